import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { documents, proseOf, readDocument } from '../harness/documents.js';

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

describe('the glossary', () => {
  it('has between 70 and 95 rows, each with a meaning', () => {
    expect(rows.length).to.be.between(69, 96);
    expect(rows.filter(({ word, meaning }) => word === '' || meaning === '')).to.equal([]);
  });

  it('has no word twice', () => {
    expect(words.filter((word, at) => words.indexOf(word) !== at)).to.equal([]);
  });

  it('is in the order of the alphabet', () => {
    expect(words).to.equal([...words].sort());
  });

  it('advises against no word that it defines', () => {
    const refused = rows.flatMap(({ not }) => not.map(plain));
    expect(refused.filter((word) => words.includes(word))).to.equal([]);
  });

  it('is kept by the documents', () => {
    const banned = rows.flatMap(({ not }) => not.filter((word) => !word.startsWith('*')));
    expect(banned).to.include('strangers');
    const found = documents()
      .filter(({ path }) => path !== 'docs/glossary.md')
      .flatMap(({ path, text }) => {
        const prose = proseOf({ path, text: text.replace(GENERATED, '') });
        const isUsed = (word: string) => new RegExp(`\\b${word}\\b`, 'i').test(prose);
        return banned.filter(isUsed).map((word) => `${path}: ${word}`);
      });
    expect(found).to.equal([]);
  });
});
