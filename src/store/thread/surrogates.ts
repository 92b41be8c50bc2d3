/**
 * Replaces lone surrogates with U+FFFD. SQLite would store them as invalid UTF-8 and return three
 * characters, so that a text of maximum length would come back longer.
 */
export const replaceLoneSurrogates = (given: object): void => {
  if (ArrayBuffer.isView(given)) return;
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'string') {
      if (!value.isWellFormed()) Reflect.set(given, key, value.toWellFormed());
    } else if (typeof value === 'object' && value !== null) {
      replaceLoneSurrogates(value);
    }
  }
};
