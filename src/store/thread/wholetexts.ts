/**
 * Replaces, in all texts of a plain value at any depth, each lone half of a surrogate pair by U+FFFD,
 * which is as long. SQLite would store a half as three bytes that are not UTF-8 and return it as
 * three characters, so that a text of the greatest length allowed would come back longer.
 */
export const mendTexts = (given: object): void => {
  if (ArrayBuffer.isView(given)) return;
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'string') {
      if (!value.isWellFormed()) Reflect.set(given, key, value.toWellFormed());
    } else if (typeof value === 'object' && value !== null) {
      mendTexts(value);
    }
  }
};
