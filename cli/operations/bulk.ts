import type { ObjectSchema } from 'joi';
import type { Operation, OperationPreview } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type Context, type Flag, switchFlag } from '../command.js';
import { usageFault } from '../exit.js';
import { momentOfAge, requestFrom } from '../fields.js';
import { formatCount, localTime, oneLine } from '../text.js';
import { noWait, showStarted, skipReasons } from './follow.js';

/** A time in ISO 8601, or an age: `90m`, `2h`, `3d`. */
const momentFlag = (about: string): Flag<string> => ({
  value: '<time>',
  about,
  read: (input) => {
    const moment = momentOfAge(input);
    if (/^\d{4}-/.test(moment)) return moment;
    throw usageFault(`Expected a time like 2026-01-31T09:30, or an age like 2h (got "${input}")`);
  },
});

export const bulkFlags = {
  failed: switchFlag(
    'Select everything that failed between --since and --until, instead of one item. The command lists the number and asks for confirmation',
  ),
  since: momentFlag(
    'With --failed: start of the period. A time such as 2026-01-31T09:30, or an age such as 2h. Required for hooks and webhooks',
  ),
  until: momentFlag(
    'With --failed: end of the period, in the same format as --since. Defaults to now',
  ),
  dryRun: switchFlag('With --failed: count the failures, without changing anything'),
  noWait,
};

interface BulkFlags {
  since?: string;
  until?: string;
  dryRun?: boolean;
  noWait?: boolean;
}

/** An endpoint that either lists the failures or starts the operation. */
interface BulkWork<T> {
  /** Body of its request, filled from the flags and `more`. */
  schema: ObjectSchema<T>;
  more: Record<string, unknown>;
  /** Sends the request. `dryRun` only lists; `failedByField` limits it to what was listed. */
  send(
    body: Awaited<T>,
    how: { dryRun?: boolean; failedBy?: string },
  ): Promise<Operation | OperationPreview>;
  /** `run` */
  noun: string;
  /** `Replay` */
  verb: string;
}

interface BulkInput {
  flags: BulkFlags;
  fields: Record<string, unknown>;
}

const previewColumns = buildColumns<OperationPreview>(['count', 'skipped', 'oldest', 'newest'], {
  name: 'reasons',
  value: ({ reasons }) => JSON.stringify(reasons),
});
/** Maximum number of parts to list. */
const MAX_PARTS = 12;

const isPreview = (reply: Operation | OperationPreview): reply is OperationPreview =>
  'parts' in reply;

/** Lists failures, asks, starts the operation and follows it. */
export const workOnFailed = async <T>(
  context: Context,
  { flags, fields }: BulkInput,
  { schema, more, send, noun, verb }: BulkWork<T>,
): Promise<void> => {
  const { out } = context;
  const { since, until } = flags;
  const body = await requestFrom(schema, { fields, more: { ...more, since, until } }, context.at);
  const preview = await send(body, { dryRun: true });
  if (!isPreview(preview)) throw new TypeError('The daemon returned no preview');
  for (const line of previewLines(preview, { noun, verb })) out.note(line);
  if (flags.dryRun || preview.count === 0) {
    if (out.format !== 'table') out.item(preview, previewColumns);
    return;
  }
  await context.ask.confirm(`${verb} ${formatCount(preview.count, noun)}?`);
  const begun = await send(body, { failedBy: preview.listedAt });
  if (isPreview(begun)) throw new TypeError('The daemon started no operation');
  await showStarted(context, begun, flags);
};

const previewLines = (
  { count, skipped, oldest, newest, reasons, parts }: OperationPreview,
  { noun, verb }: { noun: string; verb: string },
): string[] => {
  const span = oldest && newest ? `, from ${localTime(oldest)} to ${localTime(newest)}` : '';
  const due = parts.filter((part) => part.count > 0);
  const rest = due.length - MAX_PARTS;
  const nothing =
    skipped > 0 ? `Nothing to ${verb.toLowerCase()}.` : 'Nothing failed in this period.';
  return [
    count > 0 ? `${verb}: ${formatCount(count, noun)}${span}` : nothing,
    ...due.slice(0, MAX_PARTS).map((part) => `  ${part.count}  ${oneLine(part.name)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    ...(skipped > 0 ? [`Skipped: ${skipped}`] : []),
    ...Object.entries(reasons).map(([code, each]) => `  ${each}  ${skipReasons[code] ?? code}`),
  ];
};

export const refuseBulkFlags = (flags: BulkFlags): void => {
  if (Object.values(flags).every((value) => value === undefined)) return;
  throw usageFault('--since, --until, --dry-run and --no-wait require --failed.');
};
