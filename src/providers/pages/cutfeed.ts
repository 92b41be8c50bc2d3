import { Parser } from 'htmlparser2';

const ENTRY = /^(?:\w+:)?(?:item|entry)$/i;
/** Entries are within the root, or within its channel. */
const MAX_OUTER = 2;

/**
 * Returns the title and the complete entries of an RSS, Atom or RDF feed whose end is missing, as a
 * feed of their own. Returns null if the feed is complete, or nothing in it is.
 */
export const repairCutFeed = (xml: string): string | null => {
  const open: string[] = [];
  let isWhole = false;
  let length = 0;
  let end = '';
  const parser = new Parser(
    {
      onopentagname: (name) => void open.push(name),
      onclosetag: (_, isImplied) => {
        open.pop();
        if (open.length === 0) isWhole ||= !isImplied;
        const isOuter = open.length > 0 && open.length <= MAX_OUTER;
        if (isImplied || !isOuter || open.some((outer) => ENTRY.test(outer))) return;
        length = parser.endIndex + 1;
        end = open
          .map((outer) => `</${outer}>`)
          .reverse()
          .join('');
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return isWhole || length === 0 ? null : `${xml.slice(0, length)}${end}`;
};
