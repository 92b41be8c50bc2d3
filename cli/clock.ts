/** The one place of the CLI where time comes from: milliseconds since 1970. */
export const now = (): number => Date.now();
