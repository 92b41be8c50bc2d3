/** Ours: what is looked at of a text, as a multiple of what is kept of it. */
const LOOKED_AT = 2;

/** Addresses with a scheme, also of those that need no `//`. */
const WITH_SCHEME =
  /\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/|(?:data|javascript|vbscript|file|mailto|tel|blob):)[^\s<>"'“”)\]]+/gi;
/** Addresses without one, as `//host/path` and `host.tld/path`. */
const WITHOUT_SCHEME = /(?<![\p{L}\p{N}/:.-])\/\/[^\s<>"'“”)\]]+/gu;
const BARE =
  /(?<![\p{L}\p{N}.@/-])(?:[\p{L}\p{N}_-]{1,63}\.){1,10}\p{L}{2,24}(?::\d{1,5})?[/?#][^\s<>"'“”)\]]*/gu;
const MAIL = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,10}\p{L}{2,24}/gu;
/** Names of hosts with three parts or more: the first ones could carry something. */
const HOST =
  /(?<![\p{L}\p{N}.@/-])(?:[\p{L}\p{N}_-]{1,63}\.){2,10}\p{L}{2,24}(?![\p{L}\p{N}_.-])/gu;

/** Whole links, images and tags, of which the words stay. */
const LINK = /!?\[([^[\]]{0,300})\]\([^()]{0,2000}\)/g;
const TAG = /<[a-z/!?][^<>]{0,1000}>/gi;
/** The end of a sentence behind an address. */
const SENTENCE_END = /[.,;:!?]+$/;

const LEFT_OUT = '(address removed)';

interface PlainTextOptions {
  /** The most characters that are kept. */
  most: number;
  /** True for an address that the person has, or that a source has. */
  isKnown(address: string): boolean;
}

/**
 * Makes a text that a model wrote safe to show as Markdown. What it read could have made it write an
 * image, a link, HTML or an address that carries what the person's texts hold to a host of somebody's
 * choice, once it is shown or opened. None of these is left, and no mark of a source either.
 */
export const plainModelText = (text: string, { most, isKnown }: PlainTextOptions): string => {
  const unlessKnown = (found: string): string => {
    const [end = ''] = SENTENCE_END.exec(found) ?? [];
    const address = found.slice(0, found.length - end.length);
    return isKnown(address) ? found : `${LEFT_OUT}${end}`;
  };
  const plain = text
    .slice(0, most * LOOKED_AT)
    .replace(LINK, '$1')
    .replace(TAG, '')
    .replace(WITH_SCHEME, unlessKnown)
    .replace(WITHOUT_SCHEME, unlessKnown)
    .replace(MAIL, unlessKnown)
    .replace(BARE, unlessKnown)
    .replace(HOST, unlessKnown)
    // Images, links and definitions of links (CommonMark 0.31, 4.7, 6.3 and 6.4).
    .replace(/!+(?=\[)/g, '')
    .replace(/\](?=[([:])/g, '] ')
    .replace(/\[(\d{1,6})\]/g, '($1)')
    // HTML and autolinks (6.5 and 6.6), and characters in disguise (2.5).
    .replace(/<(?=[a-z/!?])/gi, '< ')
    .replace(/&(?=#|[a-z][a-z0-9]*;)/gi, '& ');
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
};
