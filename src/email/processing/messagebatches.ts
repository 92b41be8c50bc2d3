import type { MailTriggers } from '../../hooks/module.js';
import { type Clock, iso } from '../../kernel/clock.js';
import { ExpectationFailed, type TransactionStep } from '../../store/engine/protocol.js';
import type { MailMessageRow } from '../../store/tables/mail.js';
import { createMailMatcher, listMailIdentities } from '../messages/record.js';
import { fetchBeginnings, type OpenFolder } from '../messages/sync.js';
import type { FindBounces } from '../sending/bounce.js';
import { buildMailEvent, type MailText } from './event.js';
import type { ProcessingStore } from './queries.js';
import type { SortMessages } from './sort.js';

export interface ProcessedCounts {
  /** New messages. */
  processed: number;
  /** Hook executions started. */
  runs: number;
  /** Already processed in another folder or under another UID. */
  known: number;
}

export interface MessageRunDeps {
  clock: Clock;
  inbox: ProcessingStore;
  triggers: MailTriggers;
  sort: SortMessages;
  findBounces: FindBounces;
}

export interface MessageRun {
  /** Earliest arrival of a new message, in milliseconds. */
  from: number;
  signal: AbortSignal;
  /** All steps or none. Throws Unmet. */
  commit(steps: TransactionStep[], more: ProcessedCounts): Promise<void>;
}

/** Messages per transaction. */
const BATCH = 50;
/** Retries if another run processed part of the batch first. */
const TRIES = 10;
/** Bytes of the text passed to hooks. */
const TEXT_BYTES = 64 * 1024;

/** Oldest first, each once. */
export const processMessages = async (
  deps: MessageRunDeps,
  opened: OpenFolder,
  run: MessageRun,
): Promise<void> => {
  const { account, folder } = opened;
  const arrived = { userId: account.user_id, accountId: account.id, folder, from: run.from };
  for (let tries = 0; ; ) {
    run.signal.throwIfAborted();
    const rows = await deps.inbox.unprocessed(arrived, BATCH);
    if (rows.length === 0) return;
    try {
      await processBatch(deps, opened, { rows, run });
      tries = 0;
    } catch (error) {
      if (!(error instanceof ExpectationFailed) || ++tries === TRIES) throw error;
    }
  }
};

const processBatch = async (
  deps: MessageRunDeps,
  { session, account, folder }: OpenFolder,
  { rows, run }: { rows: MailMessageRow[]; run: MessageRun },
): Promise<void> => {
  const { inbox, triggers, sort } = deps;
  const at = iso(deps.clock.now());
  const isNew = await filterUnprocessed(inbox, account.id, rows);
  const news = await sort(rows.filter(isNew), run.signal);
  const { user_id: userId, id: accountId } = account;
  const hookIds = await triggers.hooksFor({ userId, accountId, folder });
  const triggering = news.filter((row) => !isOfDaemon(row));
  const texts = hookIds.length === 0 ? new Map() : await fetchTexts(session, triggering);
  const firing = triggering.map((row) =>
    triggers.fire(hookIds, buildMailEvent(row, texts.get(row.id) ?? storedText(row)), row.hops),
  );
  const bounces = await deps.findBounces({ session, account }, news);
  const sorted = new Map(news.map((row) => [row.id, row]));
  const steps = [
    ...bounces.statements,
    ...rows.map((row) => inbox.mark(sorted.get(row.id) ?? row, at)),
    ...news.map((row) => inbox.claim(row, at)),
    ...firing.flatMap(({ statements }) => statements),
  ];
  await run.commit(steps, {
    processed: news.length,
    runs: triggering.length * hookIds.length,
    known: rows.length - news.length,
  });
  bounces.published();
  for (const { committed } of firing) committed();
};

/** A moved message is recognized by its identity. */
const filterUnprocessed = async (
  inbox: ProcessingStore,
  accountId: string,
  rows: MailMessageRow[],
): Promise<(row: MailMessageRow) => boolean> => {
  const identities = [...new Set(rows.flatMap(listMailIdentities))];
  const before = await inbox.processed(accountId, identities);
  const news = new Set<MailMessageRow>();
  for (const row of rows) {
    if (![...before, ...news].some(createMailMatcher(row))) news.add(row);
  }
  return (row) => news.has(row);
};

/**
 * Sent by a daemon: notification, test, hook or agent. It starts no hook, since its notification
 * would be the next such message.
 */
const isOfDaemon = ({ automatic, hops }: MailMessageRow): boolean => automatic === 1 && hops > 0;

/** Stored beginning, if the server does not return the text. */
const storedText = ({ snippet }: MailMessageRow): MailText => ({ text: snippet, isCut: true });

const fetchTexts = async (
  session: OpenFolder['session'],
  rows: MailMessageRow[],
): Promise<Map<string, MailText>> => {
  const parts = new Map(rows.map(({ uid, parts }) => [uid, JSON.parse(parts)]));
  const texts = await fetchBeginnings(session, parts, TEXT_BYTES);
  return new Map(
    rows.map((row) => {
      const { text, html } = JSON.parse(row.parts);
      const shown = text ?? html;
      if (shown === null) return [row.id, { text: '', isCut: false }];
      const found = texts.get(row.uid);
      if (found === undefined) return [row.id, storedText(row)];
      return [row.id, { text: found, isCut: shown.bytes > TEXT_BYTES }];
    }),
  );
};
