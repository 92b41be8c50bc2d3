import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { renderTable, type TableColumn } from '../../cli/columns.js';
import { wrapProse } from '../../cli/text.js';
import { computeTextWidth } from '../../src/kernel/width.js';
import { tableText } from '../../src/providers/chat/markdown/table.js';
import { hintsView } from '../../tui/frame/bars.js';
import { helpOverflow, helpView } from '../../tui/frame/help.js';
import { shownMatches } from '../../tui/frame/sheets.js';
import { bindings, pageActKeys } from '../../tui/keys.js';
import { Painter } from '../../tui/painter.js';
import { openField } from '../../tui/parts/field.js';
import { drawRow, row } from '../../tui/parts/row.js';
import { pages } from '../../tui/screens.js';
import { pageNames } from '../../tui/state/locations.js';
import { reduce } from '../../tui/state/state.js';
import { createTheme } from '../../tui/theme.js';
import { aHook, hooksLoaded, known, shown } from '../tui/fixtures.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Texts with the columns that terminals with a current table of widths give them. */
const WIDTHS: [text: string, columns: number][] = [
  // Common characters of Japanese, which belong to no script.
  ['サーバーのエラー', 16],
  ['A・B', 4],
  ['〜ー々〆', 8],
  ['㈱㎡㊙\ufe0f', 6],
  ['ㄅㄆㄇㄈ', 8],
  ['ｱｲｳｴｵ', 5],
  ['ｶﾞ', 2],
  ['「」', 4],
  ['ＡＢ', 4],
  // Conjuncts and vowel signs.
  ['नमस्ते दुनिया', 10],
  ['বাংলা', 4],
  ['தமிழ்', 4],
  ['ไทย', 3],
  ['שָׁלוֹם', 4],
  // Characters without width.
  ['a\u200bb\u2060c', 3],
  ['a\u00adb', 3],
  ['한글', 4],
  ['\u1112\u1161\u11ab', 2],
  ['\ua960\u1161', 2],
  ['a\u3164b\uffa0', 5],
  ['\u115f\u1161', 2],
  // Emoji.
  ['⚠\ufe0f', 2],
  ['⚠', 1],
  ['1\ufe0f\u20e3', 2],
  ['👍🏽', 2],
  ['🏳\ufe0f\u200d🌈', 2],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['🇩🇪🇫🇷🇮', 5],
  ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 2],
  ['1\u20e3', 1],
  ['#\ufe0f\u20e3', 2],
  ['👩🏽‍🦰', 2],
  ['葛\u{e0100}', 2],
  ['☎\ufe0e', 1],
];

describe('widths of characters', () => {
  it('are those of terminals', () => {
    expect(WIDTHS.map(([text]) => [text, computeTextWidth(text)])).to.equal(WIDTHS);
  });

  it('align the second column of a list, and of a table in a chat', () => {
    const columns: TableColumn<{ title: string }>[] = [
      { name: 'title', value: ({ title }) => title },
      { name: 'status', value: () => 'pending' },
    ];
    const rows = WIDTHS.map(([title]) => ({ title }));
    const lines = renderTable(rows, columns, { width: 80, hasColors: false });
    expect(lines.slice(1)).to.equal(
      WIDTHS.map(([title, width]) => `${title}${' '.repeat(18 - width)}pending`),
    );
    const cells = WIDTHS.map(([text]) => [
      { text, side: 'left' as const },
      { text: 'x', side: 'left' as const },
    ]);
    const [head, , ...others] = tableText(cells);
    expect([head, ...others]).to.equal(
      WIDTHS.map(([text, width]) => `${text}${' '.repeat(16 - width)} │ x`),
    );
  });

  it('name the column behind a character that terminals dispute', async () => {
    const written: string[] = [];
    const painter = new Painter({
      terminal: { write: (text) => written.push(text) > 0, once: () => {} },
      theme: createTheme('mono'),
      size: () => ({ width: 20, height: 2 }),
      cursor: () => null,
    });
    painter.write('ab ⚠\ufe0f c\nक्षा d\u3164e');
    await Promise.resolve();
    await Promise.resolve();
    expect(written.join('')).to.contain('ab   \u001b[4G⚠\ufe0f\u001b[6G c');
    expect(written.join('')).to.contain('  \u001b[1Gक्षा\u001b[3G d  \u001b[5G\u3164\u001b[7Ge');
    const columns: TableColumn<object>[] = [
      { name: 'title', value: () => '👍🏽' },
      { name: 'status', value: () => 'new' },
    ];
    const [, line] = renderTable([{}], columns, { width: 80, hasColors: true });
    expect(String(line)).to.startWith('  \u001b[1G👍🏽\u001b[3G     new');
  });

  it('are kept where only ASCII is shown', () => {
    const theme = createTheme('mono', true);
    const drawn = ['नमस्ते', 'サーバー', 'a→b…'].map((text) => drawRow(row(text, ' |'), 12, theme));
    expect(drawn).to.equal(['???? |      ', '???????? |  ', 'a>b~ |      ']);
  });
});

/** The sheet of help of a page, with all that can be scrolled to. */
const helpOf = (page: (typeof pageNames)[number], width: number, height: number) => {
  const state = known([{ type: 'ui.opened', place: { page, id: 'x' } }], width, height);
  const most = helpOverflow(state);
  const tops = Array.from({ length: most + 1 }, (_, helpTop) => helpTop);
  const size = { width, height: height - 5 };
  const views = tops.map((helpTop) =>
    shown(
      helpView,
      reduce(state, { type: 'ui.help', isHelp: true, helpTop }),
      size.width,
      size.height,
    ),
  );
  return {
    state,
    lines: [...(views[0] ?? []), ...views.slice(1).map((rows) => rows.at(-1) ?? '')],
  };
};

describe('help', () => {
  for (const [width, height] of [
    [80, 24],
    [60, 16],
    [140, 40],
  ] as const) {
    it(`says each explanation whole on ${width} by ${height}`, () => {
      for (const page of pageNames) {
        const { lines } = helpOf(page, width, height);
        expect(lines.every((line) => computeTextWidth(line) <= width)).to.be.true();
        const words = lines.join(' ').split(/\s+/);
        const explained = [
          ...pageActKeys(page).map(({ text }) => text),
          ...(pages[page].glossary ?? []).map(([, text]) => text),
          ...bindings.filter(({ scope }) => scope === 'everywhere').map(({ text }) => text),
        ];
        const missing = explained
          .flatMap((text) => text.split(' '))
          .filter((word) => !words.includes(word));
        expect([page, missing]).to.equal([page, []]);
      }
    });
  }

  it('names the keys that scroll where it does not fit', () => {
    const hint = (page: 'capabilities' | 'team', height: number) => {
      const { state } = helpOf(page, 80, height);
      const open = reduce(state, { type: 'ui.help', isHelp: true, helpTop: 0 });
      return shown(hintsView, open, 80, 1);
    };
    expect(hint('capabilities', 24)).to.equal(['esc close   j k scroll']);
    expect(hint('team', 30)).to.equal(['esc close']);
  });
});

describe('the row of keys', () => {
  const atHooks = [...hooksLoaded([aHook()]), { type: 'ui.root' as const, root: 'hooks' as const }];
  const lost = { is: 'lost' as const, since: 0, attempt: 1, nextAt: 0, reason: 'refused' };

  it('offers no act while the daemon is lost, and offers them again', () => {
    const online = known(atHooks);
    const offline = reduce(online, { type: 'session.linked', link: lost });
    const acts = /\b(edit|enable|disable|test|delete|add)\b/;
    expect(shown(hintsView, online, 120, 1)[0]).to.match(acts);
    expect(shown(hintsView, offline, 120, 1)[0]).to.not.match(acts);
    expect(String(shown(hintsView, offline, 120, 1)[0])).to.startWith('enter try now');
  });

  it('has no act in the palette either', () => {
    const online = known([
      ...atHooks,
      { type: 'ui.field', field: openField('palette', 'hooks test') },
    ]);
    const offline = reduce(online, { type: 'session.linked', link: lost });
    const lines = [online, offline].map((state) => shownMatches(state).map(({ line }) => line));
    expect(lines[0]?.some((line) => line.startsWith('adjutant hooks test '))).to.be.true();
    expect(lines[1]).to.equal([]);
  });
});

describe('a choice that is longer than the terminal', () => {
  it('is broken between words, below its number', () => {
    expect(wrapProse('1 install a model on this machine, which costs nothing', 30, 2)).to.equal([
      '1 install a model on this',
      '  machine, which costs nothing',
    ]);
  });
});
