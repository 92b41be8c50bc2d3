import { Tokenizer } from 'htmlparser2';

/** Ours: the deepest elements that are kept. Parsers take the longer for a tag the deeper it lies. */
const DEEPEST = 100;
/** Elements whose content is text. No element lies within one, so each is kept, with what is in it. */
const RAW = new Set(['script', 'style', 'title', 'textarea', 'xmp']);

/** The pieces of HTML that are kept, and what is added between them. */
interface FlatHtml {
  html: string;
  pieces: string[];
  /** The place up to which the HTML was kept or left out. */
  at: number;
  /** The names of the open elements, the outermost first. */
  open: string[];
  counts: Map<string, number>;
}

/**
 * Returns HTML in which no element lies deeper than 100 levels: tags below are left out, and their
 * text stays. Each element that is not closed in time is closed with that around it. Takes time in
 * proportion to the length.
 */
export const flatHtml = (html: string): string => {
  const flat: FlatHtml = { html, pieces: [], at: 0, open: [], counts: new Map() };
  let name = '';
  let begin = 0;
  const opened = (end: number): void => openTag(flat, name, { begin, end: end + 1 });
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ...NOTHING,
      onopentagname: (start, end) => {
        name = html.slice(start, end).toLowerCase();
        begin = start - 1;
      },
      onopentagend: opened,
      onselfclosingtag: opened,
      onclosetag: (start, end) => {
        const tag = { begin: html.lastIndexOf('<', start), end: html.indexOf('>', end) + 1 };
        closeTag(flat, html.slice(start, end).toLowerCase(), tag);
      },
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return flat.pieces.join('') + html.slice(flat.at);
};

const nothing = (): void => undefined;
const NOTHING = {
  onattribdata: nothing,
  onattribentity: nothing,
  onattribend: nothing,
  onattribname: nothing,
  oncdata: nothing,
  oncomment: nothing,
  ondeclaration: nothing,
  onend: nothing,
  onprocessinginstruction: nothing,
  ontext: nothing,
  ontextentity: nothing,
};

interface TagPlace {
  begin: number;
  /** The place behind it; 0: it is not ended. */
  end: number;
}

const openTag = (flat: FlatHtml, name: string, tag: TagPlace): void => {
  if (VOID.has(name)) return;
  if (flat.open.length >= DEEPEST && !RAW.has(name)) {
    replace(flat, tag, '');
    return;
  }
  flat.open.push(name);
  flat.counts.set(name, (flat.counts.get(name) ?? 0) + 1);
};

const closeTag = (flat: FlatHtml, name: string, tag: TagPlace): void => {
  if (VOID.has(name) || tag.end === 0) return;
  if (!flat.counts.get(name)) {
    replace(flat, tag, '');
    return;
  }
  let closing = '';
  for (let last = flat.open.pop(); last !== undefined; last = flat.open.pop()) {
    flat.counts.set(last, (flat.counts.get(last) ?? 0) - 1);
    if (last === name) break;
    closing += `</${last}>`;
  }
  if (closing !== '') replace(flat, { begin: tag.begin, end: tag.begin }, closing);
};

const replace = (flat: FlatHtml, { begin, end }: TagPlace, by: string): void => {
  flat.pieces.push(flat.html.slice(flat.at, begin), by);
  flat.at = end;
};

/** Elements without content, which are never closed. */
export const VOID = new Set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(
    ' ',
  ),
);
