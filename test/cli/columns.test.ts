import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  renderTable,
  shownColumns,
  type TableColumn,
  valueAt,
  withDropOrder,
} from '../../cli/columns.js';

export const lab = Lab.script();
const { describe, it } = lab;

interface Row {
  id: string;
  name: string;
  runs: number;
  note: string;
}

const columns: TableColumn<Row>[] = [
  { name: 'id', value: (row) => row.id, only: 'data' },
  { name: 'name', value: (row) => row.name },
  { name: 'runs', value: (row) => row.runs, isNumber: true },
  { name: 'last-note', value: (row) => row.note, show: (row) => row.note.toUpperCase() },
];
const rows: Row[] = [
  { id: 'hook_1', name: 'github-issues', runs: 412, note: 'fine' },
  { id: 'hook_2', name: 'x\u001b[2J', runs: 7, note: 'two\nlines' },
];

const plain = (width: number) => ({ width, hasColors: false });

describe('tableOf', () => {
  it('aligns columns under their heads, numbers to the right', () => {
    expect(renderTable(rows, columns, plain(80))).to.equal([
      'NAME           RUNS  LAST NOTE',
      'github-issues   412  FINE',
      'x\\x1b[2J          7  TWO\\nLINES',
    ]);
  });

  it('leaves out the last columns where they do not fit', () => {
    expect(renderTable(rows, columns, plain(20))).to.equal([
      'NAME           RUNS',
      'github-issues   412',
      'x\\x1b[2J          7',
    ]);
  });

  it('leaves out those first that say so, in their order', () => {
    const named = withDropOrder(['name', 'runs'], columns);
    const shown = (width: number) => shownColumns(rows, named, { width });
    expect([80, 30, 12].map(shown)).to.equal([
      ['name', 'runs', 'last-note'],
      ['runs', 'last-note'],
      ['last-note'],
    ]);
    expect(renderTable(rows, named, plain(20))[0]).to.equal('RUNS  LAST NOTE');
  });

  it('cuts the widest column of those that are kept', () => {
    const long = [{ id: 'hook_3', name: 'n'.repeat(60), runs: 1, note: 'ok' }];
    expect(renderTable(long, columns, plain(40))).to.equal([
      'NAME                     RUNS  LAST NOTE',
      `${'n'.repeat(22)}…     1  OK`,
    ]);
  });

  it('cuts no address, leaves out a column instead, and cuts one that is wider than the terminal', () => {
    const whole = columns.map((column) =>
      column.name === 'last-note' ? { ...column, isWhole: true as const } : column,
    );
    const long = [{ id: 'h', name: 'n'.repeat(30), runs: 1, note: 'https://example.org:8443' }];
    expect(renderTable(long, whole, plain(52))[1]).to.equal(
      `${'n'.repeat(19)}…     1  HTTPS://EXAMPLE.ORG:8443`,
    );
    expect(renderTable(long, whole, plain(44))).to.equal([
      'NAME                            RUNS',
      `${'n'.repeat(30)}     1`,
    ]);
    expect(renderTable(long, whole.slice(3), plain(12))[1]).to.equal('HTTPS://EXA…');
  });

  it('is never wider than the terminal', () => {
    const wide = [{ id: 'h', name: '日'.repeat(80), runs: 1e9, note: 'n'.repeat(400) }];
    for (const width of [20, 40, 60, 80, 140]) {
      for (const line of renderTable(wide, columns, plain(width)))
        expect(line.length).to.be.at.most(width);
    }
  });
});

describe('states', () => {
  const states: TableColumn<string>[] = [{ name: 'state', value: (row) => row, isState: true }];

  it('have their colour on a terminal that has colours, and keep their width', () => {
    const face = { width: 80, hasColors: true };
    expect(renderTable(['error', 'a name'], states, face)).to.equal([
      'STATE',
      '\u001b[31merror\u001b[39m',
      'a name',
    ]);
    const last: TableColumn<string>[] = [...states, { name: 'x', value: () => 1 }];
    expect(renderTable(['ok'], last, face)).to.equal(['STATE  X', '\u001b[32mok\u001b[39m     1']);
  });
});

describe('valueAt', () => {
  it('follows a dotted path of own properties', () => {
    expect(valueAt({ a: { b: [1] } }, 'a.b')).to.equal([1]);
    expect([valueAt({ a: 1 }, 'a.b'), valueAt({}, 'constructor'), valueAt(null, 'a')]).to.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
