import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

/** In ascending order of severity. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const MAX_LINES = 1000;

const big = () => s.integer(0, Number.MAX_SAFE_INTEGER);

export const LogEntry = s.object('LogEntry', {
  id: big().description('Number of the line. Numbers increase across restarts of the daemon'),
  at: s.nullable(s.time()).description('Time of the entry. `null` if the line has no time'),
  level: s.oneOf('LogLevel', ...LEVELS),
  message: s.anyText(16_384),
  data: s.record('LogFields'),
});
export type LogEntry = s.Static<typeof LogEntry>;

export const logs = contract({
  list: endpoint.get('/api/admin/logs', {
    summary: 'List recent log entries',
    description: 'Only entries that are still in memory are returned.',
    access: 'admin',
    audit: 'logs.list',
    continuedBy: 'after',
    query: s.object('LogQuery', {
      after: s.optional(
        s
          .queryWhole(0, Number.MAX_SAFE_INTEGER)
          .description(
            'Line number after which entries are returned. If omitted, the newest entries are returned',
          ),
      ),
      level: s.optional(
        s
          .oneOf('LeastLogLevel', ...LEVELS)
          .description('Minimum level of the entries. If omitted, all levels are returned'),
      ),
      limit: s.optional(
        s.queryWhole(1, MAX_LINES).description('Maximum number of entries. Defaults to 200'),
      ),
      wait: s.optional(
        s
          .queryWhole(0, 30)
          .description('Maximum time to wait for an entry, in seconds. Defaults to 0'),
      ),
    }),
    reply: s.object('LogEntries', {
      entries: s.list(LogEntry, MAX_LINES),
      lastId: big().description(
        'Number of the last line searched. Pass this number as `after` in the next request',
      ),
      oldestId: big().description('Number of the oldest line in memory'),
      gap: s.boolean().description('Whether lines after `after` are no longer in memory'),
    }),
  }),
});
