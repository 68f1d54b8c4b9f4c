"""Logarithms of columns with a long tail, as a step of a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .arrays import Array, Float64
from .containers import refuse_frame
from .long_tails import Offsets, have_long_tails, logarithms, logarithms_in_library, offsets_of

AS_IT_IS = -1.0  # in place of an offset


class LogTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Logarithms of the columns without negative values whose skewness is above 2, such as amounts
    of money; other columns as they are.

    The step that `cmeans.cluster` and `AutoClustering` put before the clusters where columns have
    long tails (scaling="log").

    Attributes
    ----------
    offset_ : (d,) what is added to a column before its logarithm: 0 where the fit has positive
        values alone, else the smallest positive one; -1 for columns that stay as they are.
    least_ : (d,) what stands in place of what has no logarithm: the smallest sum of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from cmeans import LogTransformer
    >>> X = np.stack([10.0 ** np.arange(8), np.arange(8.0)], axis=1)
    >>> LogTransformer().fit_transform(X)[-1].round(1).tolist()
    [16.1, 7.0]
    """

    offset_: Float64
    least_: Float64

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns, by rows X (n, d); `y` is not used."""
        refuse_frame(X, type(self).__name__)
        x = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        taken = have_long_tails(x)
        offsets, least = offsets_of(x)
        self.offset_ = np.where(taken, np.array(offsets), AS_IT_IS)
        self.least_ = np.where(taken, least, 1.0)
        return self

    def transform(self, X: Any) -> Float64:
        """Return rows X (b, d) with logarithms of these columns."""
        check_is_fitted(self)
        refuse_frame(X, type(self).__name__)
        x = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return logarithms(x, self._offsets, self.least_)

    def inverse_transform(self, X: Any) -> Float64:
        """Return rows X (b, d) in their units again."""
        check_is_fitted(self)
        x, taken = np.array(X, dtype=np.float64), self.offset_ >= 0
        x[:, taken] = np.exp(x[:, taken]) - self.offset_[taken]
        return x

    def of_arrays(self, x: Array) -> Array:
        """Return what `transform` does of rows x (b, d) of any array library."""
        return logarithms_in_library(x, self._offsets, self.least_.tolist())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _offsets(self) -> Offsets:
        return tuple(None if one < 0 else one for one in self.offset_.tolist())
