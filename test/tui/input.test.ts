import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createDecoder, type InputEvent } from '../../tui/input.js';

export const lab = Lab.script();
const { describe, it } = lab;

const decoded = (...pieces: string[]): string[] => {
  const decoder = createDecoder();
  const events = pieces.flatMap((piece) => decoder.push(piece));
  return [...events, ...decoder.flush()].map(said);
};
const said = (event: InputEvent): string => {
  if (event.type === 'key') return event.isBurst ? `${event.key}*` : event.key;
  if (event.type === 'paste') return `paste ${event.text}`;
  return event.type === 'focus' ? `focus ${event.isFocused}` : 'reply';
};

describe('input', () => {
  it('names keys', () => {
    const typed = [
      'a',
      'A',
      ' ',
      '\r',
      '\t',
      '\u007f',
      '\u0004',
      '\u001b[A',
      '\u001bOB',
      '\u001b[6~',
    ];
    expect(typed.flatMap((each) => decoded(each))).to.equal([
      'a',
      'A',
      'space',
      'enter',
      'tab',
      'backspace',
      'ctrl-d',
      'up',
      'down',
      'pagedown',
    ]);
  });

  it('puts a split sequence together', () => {
    expect(decoded('\u001b', '[', 'A')).to.equal(['up']);
    expect(decoded('\u001b[', '20', '0~x', '\u001b[20', '1~')).to.equal(['paste x']);
  });

  it('takes a lone escape for the key when nothing follows', () => {
    const decoder = createDecoder();
    expect(decoder.push('\u001b')).to.equal([]);
    expect(decoder.isWaiting()).to.be.true();
    expect(decoder.flush().map(said)).to.equal(['esc']);
  });

  it('drops half a sequence that stays alone, and never takes it for keys', () => {
    expect(decoded('\u001b[1;')).to.equal([]);
  });

  it('marks keys that came together', () => {
    expect(decoded('Dy')).to.equal(['D*', 'y*']);
    expect(decoded('jjj')).to.equal(['j*', 'j*', 'j*']);
  });

  it('makes one event of a paste, whatever is in it', () => {
    expect(decoded('\u001b[200~Dy\u001b[A\rA\u001b[201~j')).to.equal(['paste Dy\u001b[A\rA', 'j']);
  });

  it('swallows Alt, the mouse and answers of the terminal', () => {
    expect(decoded('\u001bA')).to.equal([]);
    expect(decoded('\u001b[<0;10;20M')).to.equal([]);
    expect(decoded('\u001b[M !!')).to.equal([]);
    expect(decoded('\u001b[?62;c')).to.equal([]);
    expect(decoded('\u001b[1;5A')).to.equal([]);
    expect(decoded('\u001b]11;rgb:0000/0000/0000\u0007')).to.equal(['reply']);
  });

  it('tells of the focus', () => {
    expect(decoded('\u001b[I', '\u001b[O')).to.equal(['focus true', 'focus false']);
  });

  it('keeps wide characters whole', () => {
    expect(decoded('日')).to.equal(['日']);
  });

  it('survives any bytes', () => {
    for (let seed = 1; seed < 500; seed++) {
      const bytes = Array.from({ length: 40 }, (_, at) =>
        String.fromCharCode((seed * 7919 * (at + 3)) % 160),
      );
      const decoder = createDecoder();
      decoder.push(bytes.join(''));
      decoder.flush();
      decoder.push('\u001b[201~');
      expect(decoder.push('q').map(said)).to.equal(['q']);
    }
  });
});
