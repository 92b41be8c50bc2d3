/** Limits the text that is scanned, as a multiple of the text that is kept. */
const SCANNED_FACTOR = 2;

/** Addresses with a scheme, including those without `//`. */
const WITH_SCHEME =
  /\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/|(?:data|javascript|vbscript|file|mailto|tel|blob):)[^\s<>"'“”)\]]+/gi;
/** Addresses without a scheme, such as `//host/path` and `host.tld/path`. */
const WITHOUT_SCHEME = /(?<![\p{L}\p{N}/:.-])\/\/[^\s<>"'“”)\]]+/gu;
const BARE =
  /(?<![\p{L}\p{N}.@/-])(?:[\p{L}\p{N}_-]{1,63}\.){1,10}\p{L}{2,24}(?::\d{1,5})?[/?#][^\s<>"'“”)\]]*/gu;
const MAIL = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,10}\p{L}{2,24}/gu;
/** Host names with three or more labels. The first labels could carry data. */
const HOST =
  /(?<![\p{L}\p{N}.@/-])(?:[\p{L}\p{N}_-]{1,63}\.){2,10}\p{L}{2,24}(?![\p{L}\p{N}_.-])/gu;

const LINK = /!?\[([^[\]]{0,300})\]\([^()]{0,2000}\)/g;
const TAG = /<[a-z/!?][^<>]{0,1000}>/gi;
const SENTENCE_END = /[.,;:!?]+$/;

const REMOVED_ADDRESS = '(address removed)';

interface PlainTextOptions {
  most: number;
  isKnown(address: string): boolean;
}

/**
 * Makes model output safe to display as Markdown. Text that the model has read could make it write
 * an image, link, HTML or address that sends user data to a foreign host when it is displayed or
 * opened. These are removed, and so are source marks.
 */
export const sanitizeModelText = (text: string, { most, isKnown }: PlainTextOptions): string => {
  const unlessKnown = (found: string): string => {
    const [end = ''] = SENTENCE_END.exec(found) ?? [];
    const address = found.slice(0, found.length - end.length);
    return isKnown(address) ? found : `${REMOVED_ADDRESS}${end}`;
  };
  const plain = text
    .slice(0, most * SCANNED_FACTOR)
    .replace(LINK, '$1')
    .replace(TAG, '')
    .replace(WITH_SCHEME, unlessKnown)
    .replace(WITHOUT_SCHEME, unlessKnown)
    .replace(MAIL, unlessKnown)
    .replace(BARE, unlessKnown)
    .replace(HOST, unlessKnown)
    // Images, links and link definitions (CommonMark 0.31, 4.7, 6.3 and 6.4).
    .replace(/!+(?=\[)/g, '')
    .replace(/\](?=[([:])/g, '] ')
    .replace(/\[(\d{1,6})\]/g, '($1)')
    // HTML and autolinks (6.5 and 6.6), and character references (2.5).
    .replace(/<(?=[a-z/!?])/gi, '< ')
    .replace(/&(?=#|[a-z][a-z0-9]*;)/gi, '& ');
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
};
