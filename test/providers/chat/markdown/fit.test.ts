import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { splitIntoMessages } from '../../../../src/providers/chat/markdown/fit.js';
import { type TextLine, textOfRuns } from '../../../../src/providers/chat/markdown/lines.js';
import { messageLines } from '../../../../src/providers/chat/markdown/message.js';
import { mattermost } from '../../../../src/providers/chat/mattermost.js';
import { telegram } from '../../../../src/providers/chat/telegram.js';
import { whatsapp } from '../../../../src/providers/chat/whatsapp.js';

export const lab = Lab.script();
const { describe, it } = lab;

const sizeOf = ({ runs }: TextLine): number => textOfRuns(runs).length + 1;
/** The lines of each message of so many characters, line ends counted. */
const cut = (text: string, most: number) =>
  splitIntoMessages(messageLines({ title: null, text, isMarkdown: true }), { most, sizeOf });
const texts = (text: string, most: number): string[] =>
  cut(text, most).map((lines) => lines.map(({ runs }) => textOfRuns(runs)).join('\n'));

describe('messagesOf', () => {
  it('parts between lines, else between words, else where it must', () => {
    expect(texts('one two\nthree', 13)).to.equal(['one two', 'three']);
    expect(texts('one two three', 10)).to.equal(['one two ', 'three']);
    expect(texts('onetwothree', 5)).to.equal(['onet', 'woth', 'ree']);
    expect(texts('a\nbcdefghijk', 10)).to.equal(['a\nbcdefgh', 'ijk']);
    expect(texts('a🦊🦊🦊', 5)).to.equal(['a🦊', '🦊🦊']);
  });

  it('begins and ends no message with a blank line, and sends no blank one', () => {
    expect(texts('aaaa\n\nbbbb', 5)).to.equal(['aaaa', 'bbbb']);
    expect(texts('aaaa\n\nbbbb', 6)).to.equal(['aaaa', 'bbbb']);
    expect(texts('aaaa\n\nbbbb', 7)).to.equal(['aaaa', 'bbbb']);
    expect(texts(' \n\n ', 7)).to.equal([]);
  });

  it('cuts no address that fits into a message', () => {
    expect(texts('see https://a.example/bc now', 24)).to.equal([
      'see ',
      'https://a.example/bc ',
      'now',
    ]);
    const [first] = cut(`https://a.example/${'b'.repeat(40)}`, 30);
    expect(first?.flatMap(({ runs }) => runs).map(({ url }) => url)).to.equal([undefined]);
  });

  it('keeps the style of what it cuts', () => {
    const styles = cut('**bold words** plain', 8)
      .flat()
      .flatMap(({ runs }) => runs);
    expect(styles.map(({ text, isBold = false }) => [text, isBold])).to.equal([
      ['bold ', true],
      ['words', true],
      [' ', false],
      ['plain', false],
    ]);
  });
});

describe('code in several messages', () => {
  const code = `Before:\n\n\`\`\`js\n${'let x = 1;\n'.repeat(4_000)}\`\`\`\n\nAfter **that**.`;
  const bodies = (platform: typeof whatsapp): string[] =>
    platform.render({ title: null, text: code, isMarkdown: true }).map((part) => {
      const { text, message } = JSON.parse(JSON.stringify(part));
      return String(message ?? text.body);
    });

  it('is fenced in each of them', () => {
    for (const platform of [whatsapp, mattermost]) {
      const all = bodies(platform);
      expect(all.length).to.be.above(2);
      for (const body of all.slice(1, -1)) expect(body).to.match(/^```(js)?\n[^`]*\n```$/);
      expect(all.at(-1)).to.match(/^```(js)?\n[^`]*\n```\n\nAfter \*+that\*+\.$/);
      expect(all.join('').match(/let x = 1;/g)?.length).to.equal(4_000);
    }
  });

  it('is an entity in each of them', () => {
    const parts = telegram.render({ title: null, text: code, isMarkdown: true });
    const types = parts.map(({ entities }) => JSON.parse(JSON.stringify(entities))[0]);
    expect(types.every(({ type, language }) => type === 'pre' && language === 'js')).to.be.true();
  });
});
