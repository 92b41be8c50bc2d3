import { Parser } from 'htmlparser2';
import { ExtractFailed } from './job.js';

export type XmlAttributes = Readonly<Record<string, string>>;

/** Element names have no prefix. */
export interface XmlVisitor {
  /** `parent` is empty for the root element. */
  open?(name: string, attributes: XmlAttributes, parent: string): void;
  text?(text: string): void;
  close?(name: string): void;
  isDone?(): boolean;
}

/** Real sheets are nested less than 20 levels deep. */
const MAX_DEPTH = 200;

/**
 * Reads XML as a stream. Custom entities are not replaced. Throws ExtractFailed for incomplete XML
 * or too deep nesting.
 */
export const walkXml = async (
  pieces: AsyncIterable<Uint8Array>,
  visitor: XmlVisitor,
): Promise<void> => {
  const parents: string[] = [];
  let isWhole = false;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        const local = getLocalName(name);
        if (parents.length >= MAX_DEPTH) {
          throw new ExtractFailed('damaged', 'The XML of the file is nested too deeply');
        }
        visitor.open?.(local, attributes, parents.at(-1) ?? '');
        parents.push(local);
      },
      ontext: (text) => visitor.text?.(text),
      onclosetag: (name, isImplied) => {
        parents.pop();
        visitor.close?.(getLocalName(name));
        if (parents.length === 0) isWhole = !isImplied;
      },
    },
    { xmlMode: true },
  );
  let decode: ((piece: Uint8Array) => string) | undefined;
  for await (const piece of pieces) {
    decode ??= createXmlDecoder(piece);
    parser.write(decode(piece));
    if (visitor.isDone?.()) return;
  }
  parser.end();
  if (!isWhole) throw new ExtractFailed('damaged', 'The XML of the file is incomplete');
};

/** Ignores the prefix. */
export const findAttribute = (attributes: XmlAttributes, name: string): string | undefined => {
  if (name in attributes) return attributes[name];
  const found = Object.keys(attributes).find((key) => getLocalName(key) === name);
  return found === undefined ? undefined : attributes[found];
};

const getLocalName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Detects UTF-8 or UTF-16 from the first bytes (ECMA-376-2). */
const createXmlDecoder = (first: Uint8Array): ((piece: Uint8Array) => string) => {
  const [one, two] = first;
  const isLittle = one === 0xff && two === 0xfe;
  const isBig = one === 0xfe && two === 0xff;
  const decoder = new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8');
  return (piece) => decoder.decode(piece, { stream: true });
};
