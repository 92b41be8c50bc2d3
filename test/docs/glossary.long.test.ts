import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ts from 'typescript';
import { type Document, documents, proseOf, readDocument } from '../harness/documents.js';
import { nodes, projectRoot, sources } from '../harness/sources.js';

export const lab = Lab.script();
const { describe, it } = lab;

const rows = readDocument('docs/glossary.md')
  .text.split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, word = '', meaning = '', not = '']) => ({
    word,
    meaning,
    not: not.split(', ').filter((each) => each !== ''),
  }));
const words = rows.map(({ word }) => word);
const plain = (word: string): string => word.replaceAll('*', '');
/** Listed as what the source calls its notices; the words there are those of the API. */
const GENERATED = /<!-- (kinds|settings):.*?(<!-- \/\w+ -->|(?=\n## ))/gs;

const TOPICS = readdirSync(join(projectRoot(), 'cli/topics')).map((name) => `cli/topics/${name}`);
/** Sources whose sentences people read: the API's own texts, and the help of the command line. */
const SPOKEN = /^(src\/api\.ts|src\/[\w/]+\/contract\.ts|cli\/[\w/]+\.ts)$/;

/** The sentences in the strings of a source; a string without a space is a name or a path. */
const sentencesIn = (): Document[] =>
  sources()
    .filter(({ path }) => SPOKEN.test(path))
    .map((source) => {
      const strings = [...nodes(source)].flatMap((node) =>
        ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateTail(node)
          ? node.text
          : [],
      );
      return { path: source.path, text: strings.filter((each) => each.includes(' ')).join('\n') };
    });

const readable = (): Document[] => [
  ...documents().filter(({ path }) => path !== 'docs/glossary.md'),
  readDocument('src/http/socket/PROTOCOL.md'),
  ...TOPICS.map(readDocument),
  ...sentencesIn(),
];

describe('the glossary', () => {
  it('has a meaning for each word', () => {
    expect(rows).to.not.equal([]);
    expect(rows.filter(({ word, meaning }) => word === '' || meaning === '')).to.equal([]);
  });

  it('has no word twice', () => {
    expect(words.filter((word, at) => words.indexOf(word) !== at)).to.equal([]);
  });

  it('advises against no word that it defines', () => {
    const refused = rows.flatMap(({ not }) => not.map(plain));
    expect(refused.filter((word) => words.includes(word))).to.equal([]);
  });

  it('explains no word by one that it advises against for it', () => {
    const isOwn = ({ meaning, not }: (typeof rows)[number]) =>
      not.some((word) => new RegExp(`\\b${plain(word)}\\b`, 'i').test(meaning));
    expect(rows.filter(isOwn).map(({ word }) => word)).to.equal([]);
  });

  it('is kept by the documents, the protocol, the API’s texts and the command line', () => {
    const banned = rows.flatMap(({ not }) => not.filter((word) => !word.startsWith('*')));
    expect(banned).to.include('strangers');
    const found = readable().flatMap(({ path, text }) => {
      const prose = proseOf({ path, text: text.replace(GENERATED, '').replaceAll('’', "'") });
      const isUsed = (word: string) => new RegExp(`\\b${word}\\b`, 'i').test(prose);
      return banned.filter(isUsed).map((word) => `${path}: ${word}`);
    });
    expect(found).to.equal([]);
  });
});
