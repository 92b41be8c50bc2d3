import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createReasoningFilter } from '../../../src/providers/llm/reasoningfilter.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** What a listener has at the end, and what the filter takes for the text. */
const read = (texts: string[], { beginsInThought = false, isCut = false } = {}) => {
  const shown: string[] = [];
  const filter = createReasoningFilter({
    beginsInThought,
    onText: (piece) => shown.push(piece),
    onRestart: () => void shown.splice(0),
  });
  for (const text of texts) filter.take(text);
  filter.end(isCut);
  expect(shown.join('')).to.equal(filter.text());
  return filter.text();
};

/** The text as one piece, and as single characters. */
const bothWays = (text: string, options = {}): string[] => [
  read([text], options),
  read([...text], options),
];

const same = (text: string): [string, string] => [text, text];

describe('the filter of reasoning', () => {
  for (const [what, given, text] of [
    ['a pair of marks', '<think>\nHm.\n</think>\n\nYes.', 'Yes.'],
    ['marks in capitals', '<THINK>Hm.</Think>Yes.', 'Yes.'],
    ['a mark that was not opened', 'Hm, "so".</think>"Yes."', '"Yes."'],
    ['two thoughts', '<think>a</think><think>b</think>Yes.', 'Yes.'],
    ['a thought between lines', 'Yes.\n<think>or no?</think>\nNo.', 'Yes.\nNo.'],
    ['a second thought in a line', '<think>a</think>Yes. <think>b</think> No.', 'Yes. No.'],
    ['a thought between words', 'a</think>Yes.<think>b</think>\n\nNo.', 'Yes.\n\nNo.'],
    ['three thoughts', '<think>a</think>A<think>b</think>B <think>c</think>C', 'AB C'],
    ['an empty thought', '<think>\n\n</think>\n\nYes.', 'Yes.'],
    ['a thought without an end', '<think>Hm, I', ''],
    ['a second thought without an end', '<think>Hm.</think>Yes.\n<think>Or', 'Yes.\n'],
    ['Gemma', '<|channel>thought\nHm.<channel|>Yes.', 'Yes.'],
    ['Kimi', '◁think▷Hm.◁/think▷Yes.', 'Yes.'],
    ['a letter that grows in lower case', '<think>İİİ</think>İYes.', 'İYes.'],
  ] as const) {
    it(`takes out ${what}`, () => {
      expect(bothWays(given)).to.equal(same(text));
    });
  }

  for (const text of [
    'The `<think>` tag opens, and `</think>` closes it.',
    'Write <think> before and </think> behind it.',
    'Write "</think>" at the end.',
    '```xml\n<think>\n</think>\n```\nis an example.',
    '<b>bold</b> and a < b',
    '  indented, and it ends with <thi',
    'Yes.\n<think>without an end',
    'Yes, <think>and</think> No.',
  ]) {
    it(`leaves ${JSON.stringify(text)}`, () => {
      expect(bothWays(text)).to.equal(same(text));
    });
  }

  it('passes text on as it comes', () => {
    const shown: string[] = [];
    const onText = (piece: string) => void shown.push(piece);
    const filter = createReasoningFilter({
      beginsInThought: false,
      onText,
      onRestart: () => undefined,
    });
    for (const piece of ['Rain ', 'all ', 'day.']) filter.take(piece);
    expect(shown).to.equal(['Rain ', 'all ', 'day.']);
  });

  describe('for a model that is known to begin in its reasoning', () => {
    const known = { beginsInThought: true };

    it('shows nothing of it', () => {
      const shown: string[] = [];
      const onText = (piece: string) => void shown.push(piece);
      const onRestart = () => void shown.push('again');
      const filter = createReasoningFilter({ beginsInThought: true, onText, onRestart });
      for (const piece of ['Hm', '.</thi', 'nk>', 'Yes', '.']) filter.take(piece);
      filter.end(false);
      expect(shown).to.equal(['Yes', '.']);
    });

    it('shows a reply without any', () => {
      expect(bothWays('Yes.', known)).to.equal(same('Yes.'));
      expect(bothWays('<think>Hm.</think>Yes.', known)).to.equal(same('Yes.'));
    });

    it('takes a reply that was cut off for reasoning', () => {
      expect(bothWays('Hm, I', { ...known, isCut: true })).to.equal(same(''));
    });

    it('shows text at once where the server parts reasoning from it', () => {
      const shown: string[] = [];
      const onText = (piece: string) => void shown.push(piece);
      const filter = createReasoningFilter({ ...known, onText, onRestart: () => undefined });
      filter.reasoningCame();
      filter.take('Yes');
      expect(shown).to.equal(['Yes']);
    });
  });

  it('takes linear time for a reply of marks', () => {
    const text = '<think>x\n'.repeat(20_000);
    expect(read([`a ${text}`]).length).to.equal(text.length + 2);
  });
});
