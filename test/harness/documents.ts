import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './sources.js';

/** The README, or a file of docs/. `path` is from the project's root. */
export interface Document {
  path: string;
  text: string;
}

/** A fenced block of code; `language` is empty where none is given. */
export interface CodeBlock {
  path: string;
  language: string;
  code: string;
}

const FENCE = /^```(\w*)\n(.*?)^```$/gms;

export const readDocument = (path: string): Document => ({
  path,
  text: readFileSync(join(projectRoot(), path), 'utf8'),
});

/** The README and all of docs/, in the order of their names. */
export const documents = (): Document[] => {
  const names = readdirSync(join(projectRoot(), 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...names.sort().map((name) => `docs/${name}`)].map(readDocument);
};

export const codeBlocks = ({ path, text }: Document): CodeBlock[] =>
  [...text.matchAll(FENCE)].map(([, language = '', code = '']) => ({ path, language, code }));

/** What stands between single backticks outside of blocks, on one line. */
export const codeSpans = ({ text }: Document): string[] =>
  [...text.replace(FENCE, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replace(/\s+/g, ' '),
  );

/** The targets of links and pictures, as written. */
export const linksIn = ({ text }: Document): string[] =>
  [...text.replace(FENCE, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);

/** The anchors of the headings, as forges make them. */
export const anchorsIn = ({ text }: Document): string[] =>
  [...text.replace(FENCE, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

/** Without code and links' targets: what is left is read as sentences. */
export const proseOf = ({ text }: Document): string =>
  text
    .replace(FENCE, '')
    .replace(/`[^`]+`/g, '')
    .replace(/\]\([^)]*\)/g, ']');
