import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './sources.js';

/** The README, or a file of docs/. `path` is relative to the project root. */
export interface Document {
  path: string;
  text: string;
}

/** `language` is empty if none is given. */
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

/** The README and all of docs/, sorted by name. */
export const documents = (): Document[] => {
  const names = readdirSync(join(projectRoot(), 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...names.sort().map((name) => `docs/${name}`)].map(readDocument);
};

export const codeBlocks = ({ path, text }: Document): CodeBlock[] =>
  [...text.matchAll(FENCE)].map(([, language = '', code = '']) => ({ path, language, code }));

/** Inline code outside of blocks. */
export const codeSpans = ({ text }: Document): string[] =>
  [...text.replace(FENCE, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replace(/\s+/g, ' '),
  );

/** Link and image targets, as written. */
export const linksIn = ({ text }: Document): string[] =>
  [...text.replace(FENCE, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);

/** Heading anchors as forges create them. */
export const anchorsIn = ({ text }: Document): string[] =>
  [...text.replace(FENCE, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

/** Text without code and link targets. */
export const proseOf = ({ text }: Document): string =>
  text
    .replace(FENCE, '')
    .replace(/`[^`]+`/g, '')
    .replace(/\]\([^)]*\)/g, ']');
