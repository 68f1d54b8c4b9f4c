/* What every page has: a button on each block of code that copies it, of a session at Python's prompt what was typed; lines of a
   shell, which are folded where they are long; blocks that scroll by keyboard, headings of the contents with a level, and links of the gallery with a name. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const typed = text => text.startsWith(">>>") ? text.split("\n").filter(line => /^(>>>|\.\.\.)/.test(line)).map(line => line.slice(4)).join("\n") : text;
  for (const block of document.querySelectorAll("article .highlight > pre")) {
    if (block.closest(".sphx-glr-script-out")) continue;
    if (/^(cmeans|pip|python -m|git) /.test(block.textContent)) block.classList.add("shell");
    const button = document.createElement("button");
    Object.assign(button, {type: "button", className: "copy", textContent: "Copy"});
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(typed(block.textContent.trimEnd()));
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(block); // to be copied by keyboard
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.parentElement.append(button);
  }
  for (const block of document.querySelectorAll("article pre, article p, div.math")) if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  for (const caption of document.querySelectorAll("p.caption[role=heading]")) caption.setAttribute("aria-level", "2");
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) link.setAttribute("aria-label", link.textContent);
});
