/** A licence names itself within its first characters. */
const HEAD = 1000;
/** Words in the names of many licences. */
const COMMON =
  /^(licen[cs]e|agreement|terms|conditions|of|use|the|and|for|version|v?[\d.]+|community|public|general|software)$/;
/** The text of the MIT licence often lacks its name. */
const MIT = /permission is hereby granted, free of charge/;

/**
 * True if the beginning of the text contains no distinctive word of the name. False if there is no
 * text.
 */
export const isOtherLicence = (name: string, text: string): boolean => {
  const own = splitWords(name).filter((word) => !COMMON.test(word));
  if (own.length === 0 || text.trim() === '') return false;
  const head = text.slice(0, HEAD).toLowerCase().replaceAll(/\s+/g, ' ');
  if (own.includes('mit') && MIT.test(head)) return false;
  const words = new Set(splitWords(head));
  return !own.some((word) => words.has(word));
};

/** First line of the text; null: none. */
export const licenceName = (text: string): string | null => {
  const line = text.split('\n').find((each) => each.trim() !== '');
  return line === undefined ? null : line.trim().replaceAll(/\s+/g, ' ').slice(0, 200);
};

const splitWords = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^a-z0-9.]+/)
    .filter((word) => word !== '');
