import { Tokenizer } from 'htmlparser2';

/** Parsers are slower for deeper elements. */
const MAX_DEPTH = 100;
/** Raw text elements, kept completely. */
const RAW = new Set(['script', 'style', 'title', 'textarea', 'xmp']);

interface FlatHtml {
  html: string;
  pieces: string[];
  /** HTML before this position is done. */
  at: number;
  /** Outermost first. */
  open: string[];
  counts: Map<string, number>;
}

/**
 * Drops tags deeper than 100 levels and keeps their text. Unclosed elements are closed with their
 * parent. Linear time.
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
  /** Position after it; 0: unclosed. */
  end: number;
}

const openTag = (flat: FlatHtml, name: string, tag: TagPlace): void => {
  if (VOID.has(name)) return;
  if (flat.open.length >= MAX_DEPTH && !RAW.has(name)) {
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

export const VOID = new Set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(
    ' ',
  ),
);
