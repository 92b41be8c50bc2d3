import { type AuditEntry, type AuditVerdict, contracts } from '../../src/client/index.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { Exit } from '../exit.js';
import { listCommand } from '../list.js';
import { localTime } from '../times.js';

const { list, verify } = await contracts.audit();
/** A million entries take some seconds, on a slow machine a minute. */
const PATIENCE_MS = 10 * 60 * 1000;

/** The names as they are now, else the ids; under impersonation both. */
const whoOf = (entry: AuditEntry): string => {
  const actor = entry.actorName ?? entry.actorId;
  if (entry.impersonatorId === null) return actor;
  return `${entry.impersonatorName ?? entry.impersonatorId} as ${actor}`;
};

/** Shortens an id to its noun and the end by which every command knows it. */
const short = (target: string | null): string =>
  (target ?? '').replace(/^([a-z]+)_[0-9a-z]{20}([0-9a-z]{6})$/, '$1 $2');

const columns: TableColumn<AuditEntry>[] = [
  shownAs('at', ({ at }) => at, localTime),
  { name: 'actor', value: whoOf },
  { name: 'action', value: ({ action }) => action },
  shownAs('target', ({ target }) => target, short),
  { name: 'outcome', value: ({ outcome }) => outcome, isState: true },
  { name: 'ip', value: ({ ip }) => ip },
  { name: 'number', value: ({ number }) => number, only: 'data' },
  { name: 'id', value: ({ id }) => id, only: 'data' },
  { name: 'request', value: ({ requestId }) => requestId, only: 'data' },
  { name: 'data', value: ({ data }) => data, only: 'data' },
];

const verdictColumns: TableColumn<AuditVerdict>[] = [
  ...fieldColumns('ok', 'entries'),
  { name: 'head', value: ({ head }) => head?.mac },
  { name: 'number', value: ({ problem }) => problem?.number },
  { name: 'kind', value: ({ problem }) => problem?.kind },
  { name: 'message', value: ({ problem }) => problem?.message },
];

const listEntries = listCommand({
  endpoint: list,
  examples: ['', '--action users.invite', '--since 2026-01-31'],
  rows: 'entries',
  columns,
  next: (rows) => (rows.length === 0 ? 'Nothing like that was recorded.' : undefined),
  seeAlso: 'adjutant audit verify',
});

const verifyChain = command({
  name: 'verify',
  calls: [verify],
  examples: ['', '--json', '--quiet || echo somebody changed it'],
  notes: ['Exit 1 where an entry was changed or removed, or the newest were cut.'],
  run: async (context) => {
    const { flags, out } = context;
    const client = await context.client();
    const patient = flags.timeout === undefined ? client.with({ timeoutMs: PATIENCE_MS }) : client;
    const verdict = await patient.audit.verify();
    const { entries, head, problem } = verdict;
    if (problem) context.exitCode = Exit.failed;
    if (out.format !== 'table') return out.item(verdict, verdictColumns);
    if (problem) return out.line(`${problem.kind} at entry ${problem.number}: ${problem.message}`);
    out.line(`${entries} ${entries === 1 ? 'entry' : 'entries'}, unbroken`);
    if (head) out.note(`Head: ${head.number} ${head.mac}`);
  },
});

export const auditGroup: CommandGroup = {
  summary: 'Who did what, in a log that shows where it was changed',
  commands: [listEntries, verifyChain],
};
