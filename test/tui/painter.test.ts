import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Painter, type Rect } from '../../tui/painter.js';
import { row } from '../../tui/parts/row.js';
import { createTheme } from '../../tui/theme.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** A terminal that records its output, and can be slow. */
const openTerminal = () => {
  const written: string[] = [];
  const state = { isSlow: false, drain: () => {} };
  return {
    written,
    state,
    write: (text: string): boolean => {
      written.push(text);
      return !state.isSlow;
    },
    once: (_: 'drain', then: () => void) => {
      state.drain = then;
    },
  };
};

const open = () => {
  const terminal = openTerminal();
  const painter = new Painter({
    terminal,
    theme: createTheme('mono'),
    size: () => ({ width: 20, height: 4 }),
    cursor: () => null,
  });
  const settled = async (): Promise<string> => {
    await Promise.resolve();
    await Promise.resolve();
    return terminal.written.splice(0).join('');
  };
  return { terminal, painter, settled };
};

const FULL: Rect = { top: 1, left: 0, width: 10, height: 2 };
const bare = (text: string): string =>
  text.replaceAll(/\u001b\[\?(2026|7|25)[hl]/g, '').replaceAll('\u001b[0m', '');

describe('painter', () => {
  it('writes only rows that changed, each by its address', async () => {
    const { painter, settled } = open();
    painter.write('one\ntwo\nthree');
    await settled();
    painter.write('one\n2\nthree');
    expect(bare(await settled())).to.equal('\u001b[2;1H2\u001b[K');
  });

  it('writes nothing where nothing changed', async () => {
    const { painter, settled } = open();
    painter.write('one');
    await settled();
    painter.write('one');
    expect(await settled()).to.equal('');
  });

  it('paints a region without a frame of its own', async () => {
    const { painter, settled } = open();
    let text = 'a';
    painter.add({ measure: () => FULL, rows: () => [row(text), row('same')] });
    await settled();
    text = 'b';
    painter.plan();
    expect(bare(await settled())).to.equal('\u001b[2;1Hb         ');
  });

  it('paints a region again where its row is written over', async () => {
    const { painter, settled } = open();
    painter.add({ measure: () => ({ ...FULL, left: 5 }), rows: () => [row('region')] });
    painter.write('x\nold');
    await settled();
    painter.write('x\nnew');
    expect(bare(await settled())).to.equal('\u001b[2;1Hnew\u001b[K\u001b[2;6Hregion    ');
  });

  it('clears what a region leaves behind', async () => {
    const { painter, settled } = open();
    const remove = painter.add({ measure: () => FULL, rows: () => [row('gone')] });
    await settled();
    remove();
    expect(bare(await settled())).to.contain('\u001b[2;1H\u001b[K');
  });

  it('keeps only the newest frame while the terminal takes nothing', async () => {
    const { painter, settled, terminal } = open();
    terminal.state.isSlow = true;
    painter.write('1');
    await settled();
    for (const frame of ['2', '3', '4']) {
      painter.write(frame);
      expect(await settled()).to.equal('');
    }
    terminal.state.isSlow = false;
    terminal.state.drain();
    expect(bare(await settled())).to.equal('\u001b[1;1H4\u001b[K');
  });

  it('never sends control characters of what it paints', async () => {
    const { painter, settled } = open();
    painter.add({ measure: () => FULL, rows: () => [row('\u001b[2J\u0007\u009b')] });
    const sent = await settled();
    expect(sent).to.not.contain('\u001b[2J');
    expect(sent).to.not.match(/[\u0007\u009b]/);
    expect(sent).to.contain('\\x1b[2J');
  });

  it('writes everything again after redraw', async () => {
    const { painter, settled } = open();
    painter.write('one');
    await settled();
    painter.redraw();
    expect(bare(await settled())).to.contain('\u001b[1;1Hone');
  });

  it('writes nothing while the screen is lent', async () => {
    const { painter, settled } = open();
    painter.pause(true);
    painter.write('one');
    expect(await settled()).to.equal('');
    painter.pause(false);
    expect(bare(await settled())).to.contain('one');
  });
});
