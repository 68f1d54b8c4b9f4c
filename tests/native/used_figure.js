/* Uses a figure of the documentation as a reader would, and keeps in `found` what it says each time that it is at rest. */
(async () => {
  const one = name => document.querySelector(name), said = () => one(".live-said").textContent;
  const rest = async () => { do await new Promise(requestAnimationFrame); while (!said().endsWith("at rest.")); };
  const found = [];
  const tell = async () => { await rest(); found.push([one(".live-call").textContent, said()]); };
  const set = (control, value, event) => { control.value = value; control.dispatchEvent(new Event(event)); };
  while (!one(".live-said")) await new Promise(requestAnimationFrame);
  await tell();
  set(one("input[type=range]"), 2.5, "input"), await tell();
  const canvas = one("canvas"), box = canvas.getBoundingClientRect();
  const at = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {pointerId: 1, clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
  canvas.setPointerCapture = () => {};
  at("pointerdown", 0.02, 0.02), at("pointerup", 0.02, 0.02), at("click", 0.02, 0.02), await tell();
  at("pointerdown", 0.02, 0.02), at("pointermove", 0.3, 0.9), at("pointerup", 0.3, 0.9), at("click", 0.3, 0.9), await tell();
  for (const key of [" ", "ArrowRight"]) canvas.dispatchEvent(new KeyboardEvent("keydown", {key}));
  await tell();
  for (const rule of ["hard", "possibilistic", "noise", "entropy"]) set(one("select"), rule, "change"), await tell();
  window.found = {found, label: canvas.getAttribute("aria-label")};
})();
