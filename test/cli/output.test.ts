import { PassThrough } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { TableColumn } from '../../cli/columns.js';
import { CliFault, Exit } from '../../cli/exit.js';
import type { CommonFlags } from '../../cli/invocation.js';
import { CliOutput } from '../../cli/output.js';

export const lab = Lab.script();
const { describe, it } = lab;

interface Row {
  id: string;
  name: string;
  stats: { runs: number };
}

const columns: TableColumn<Row>[] = [
  { name: 'id', value: (row) => row.id, only: 'data' },
  { name: 'name', value: (row) => row.name, show: (row) => row.name.toUpperCase() },
  { name: 'runs', value: (row) => row.stats.runs, isNumber: true },
  { name: 'short', value: (row) => row.id.slice(-3), only: 'table' },
];

const rows: Row[] = [
  { id: 'row_001', name: 'a\tb', stats: { runs: 1 } },
  { id: 'row_002', name: 'c', stats: { runs: 20 } },
];

const reply = { rows, nextCursor: null };

/** What goes to stdout and stderr; a terminal where it has a width. */
const printed = (
  flags: CommonFlags,
  print: (out: CliOutput) => void,
  columns?: number,
): [string, string] => {
  const face = columns ? { isTTY: true, columns } : {};
  const stdout = Object.assign(new PassThrough(), face);
  const stderr = new PassThrough();
  print(new CliOutput({ stdin: new PassThrough(), stdout, stderr }, flags));
  return [textIn(stdout), textIn(stderr)];
};

/** Node 26 reads one chunk at a time. */
const textIn = (stream: PassThrough): string => {
  let text = '';
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += chunk;
  return text;
};

const page = (out: CliOutput): void => out.page({ reply, rows, columns });

describe('CliOutput', () => {
  it('draws a table on a terminal', () => {
    expect(printed({}, page, 80)).to.equal([
      'NAME    RUNS  SHORT\nA\\x09B     1  001\nC         20  002\n',
      '',
    ]);
  });

  it('names the home in a command that a note suggests', () => {
    const notes = (flags: CommonFlags) =>
      printed(flags, (out) => {
        out.note('Watch it: adjutant logs -f        Stop it: adjutant down');
        out.note('Pass its home: adjutant down --home …');
        out.note('Then: adjutant login');
      })[1];
    expect(notes({})).to.startWith('Watch it: adjutant logs -f        Stop it: adjutant down\n');
    expect(notes({ home: "/srv/ada's" })).to.equal(
      "Watch it: adjutant logs --home '/srv/ada'\\''s' -f        " +
        "Stop it: adjutant down --home '/srv/ada'\\''s'\n" +
        'Pass its home: adjutant down --home …\nThen: adjutant login\n',
    );
  });

  it('gives whole values apart by tabs in a pipe', () => {
    expect(printed({}, page)).to.equal(['row_001\ta\\tb\t1\nrow_002\tc\t20\n', '']);
  });

  it('prints the reply as it came with --json, on a terminal too', () => {
    const json = `${JSON.stringify(reply)}\n`;
    expect([printed({ json: true }, page), printed({ output: 'json' }, page, 80)]).to.equal([
      [json, ''],
      [json, ''],
    ]);
  });

  it('prints the reply with the fields of --fields alone', () => {
    const fields = 'runs,stats.runs,name';
    const picked = [
      { runs: 1, 'stats.runs': 1, name: 'a\tb' },
      { runs: 20, 'stats.runs': 20, name: 'c' },
    ];
    expect(printed({ json: true, fields }, page)).to.equal([
      `${JSON.stringify({ rows: picked, nextCursor: null })}\n`,
      '',
    ]);
    const item = (out: CliOutput): void => out.item({ id: 'row_001', stats: { runs: 1 } }, []);
    const both = printed({ output: 'json', fields: 'stats,id' }, item, 80);
    expect(both).to.equal(['{"stats":{"runs":1},"id":"row_001"}\n', '']);
    const streamed = (out: CliOutput): void => out.json({ seq: 1, kind: 'text' });
    expect(printed({ json: true, fields: 'kind' }, streamed)).to.equal(['{"kind":"text"}\n', '']);
    expect(() => printed({ json: true, fields: 'nam' }, page)).to.throw(
      CliFault,
      '--fields contains an unknown field: "nam". Did you mean: name',
    );
    const empty = { rows: [], nextCursor: null };
    const none = (out: CliOutput): void => out.page({ reply: empty, rows: [], columns });
    expect(printed({ json: true, fields: 'x' }, none)).to.equal([`${JSON.stringify(empty)}\n`, '']);
  });

  it('refuses --json with another --output', () => {
    expect(() => printed({ json: true, output: 'tsv' }, page)).to.throw(
      CliFault,
      '--json cannot be combined with --output tsv. Pass one of the two.',
    );
    expect(printed({ json: true, output: 'json' }, page)).to.equal([
      `${JSON.stringify(reply)}\n`,
      '',
    ]);
  });

  it('prints ids alone with --output id', () => {
    expect(printed({ output: 'id' }, page, 80)).to.equal(['row_001\nrow_002\n', '']);
  });

  it('takes columns and fields of the reply by their names', () => {
    expect(printed({ fields: 'stats.runs,name,short' }, page)).to.equal([
      '1\ta\\tb\t001\n20\tc\t002\n',
      '',
    ]);
    expect(printed({ fields: 'stats' }, page)).to.equal(['{"runs":1}\n{"runs":20}\n', '']);
  });

  it('refuses a field that is not there, and names those that are', () => {
    const fault = () => printed({ fields: 'nam' }, page);
    expect(fault).to.throw(
      CliFault,
      '--fields contains an unknown field: "nam". Did you mean: name',
    );
    try {
      fault();
    } catch (error) {
      expect(error instanceof CliFault && [error.exit, ...error.next]).to.equal([
        Exit.usage,
        'Fields: id, name, runs, short, stats.runs',
      ]);
    }
  });

  it('prints nothing for an empty list', () => {
    const empty = (out: CliOutput) => out.page({ reply, rows: [], columns });
    expect([printed({}, empty, 80), printed({}, empty)]).to.equal([
      ['', ''],
      ['', ''],
    ]);
  });

  it('shows one object as facts to a person and as its row in a pipe', () => {
    const item = (out: CliOutput) =>
      out.item({ id: 'row_003', name: 'x\ny', stats: { runs: 3 } }, columns);
    expect(printed({}, item, 80)[0]).to.equal(
      'id          row_003\nname        x\n            y\nstats.runs  3\n',
    );
    expect(printed({}, item)[0]).to.equal('row_003\tx\\ny\t3\n');
  });

  it('says what was done to a person, and gives what was changed to a pipe', () => {
    const done = (out: CliOutput) => out.done('Enabled c.', rows[1], columns);
    expect(printed({}, done, 80)).to.equal(['', 'Enabled c.\n']);
    expect(printed({}, done)).to.equal(['row_002\tc\t20\n', '']);
  });

  it('keeps notes back with --quiet, and warnings never', () => {
    const speak = (out: CliOutput) => {
      out.note('a note');
      out.warn('a warning');
    };
    expect(printed({ quiet: true }, speak)).to.equal(['', 'a warning\n']);
  });
});
