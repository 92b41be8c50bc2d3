import Boom from '@hapi/boom';
import { SessionBusy } from '../agents/module.js';
import type { DocumentIntake } from '../documents/module.js';
import type { Queue } from '../jobs/module.js';
import type { OperationBeginner, OperationKind, OperationRun } from '../operations/module.js';
import { addOutboundMessage, getMessageLane } from '../outbound/module.js';
import type { MessageEvent } from '../providers/chat/platform.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import type { ChannelKind } from '../store/tables/channels.js';
import type { VoiceMessages } from '../voice/module.js';
import {
  addChannelMessage,
  type ConversationDeps,
  MAX_MESSAGE_CHARACTERS,
  MESSAGE_TOO_LONG,
} from './conversation.js';
import { claimEvent } from './events.js';
import { type FetchDeps, type FetchedFile, fetchFile } from './fetch.js';
import { type FileOutcome, formatFileReply, transcriptsIn, withDocuments } from './filetext.js';
import type { LinkedChannel, Links } from './links.js';

interface FilesInput {
  kind: ChannelKind;
  channelId: string;
  senderId: string;
  eventId: string;
  /** Empty if there is no text. */
  text: string;
  files: NonNullable<MessageEvent['files']>;
  /** Number of further files beyond the limit. */
  left: number;
  /** True for a forwarded message, whose voice is not the sender's. */
  isForwarded?: boolean;
}

interface FilesCheckpoint {
  ended: FetchedFile[];
}

export interface MessageFilesDeps extends FetchDeps, ConversationDeps {
  links: Pick<Links, 'channelOf'>;
  arrivals: DocumentIntake;
  voice: VoiceMessages;
  queue: Pick<Queue, 'added'>;
}

/** Resolves to an immediate reply, if any. */
export type TakeFiles = (
  channel: LinkedChannel,
  message: MessageEvent & Pick<FilesInput, 'files'>,
) => Promise<string | null>;

const NOT_OWN = 'The message was forwarded, so it was not passed to your agents.';
/** Files per message, and waiting messages with files per user. */
const MAX_FILES = 10;
const MAX_WAITING = 500;
/** How long the text of a message waits for its files. */
const READ_MS = 10 * 60_000;
const SPOKEN_MS = 60 * 60_000;

/** Claims the event in the same transaction, so a retry of the platform has no effect. */
export const createTakeFiles =
  (deps: ConversationDeps, operations: OperationBeginner<FilesInput>): TakeFiles =>
  async (
    { id: channelId, userId, kind },
    { files, eventId, text, sender, isForwarded = false },
  ) => {
    const taken = files.slice(0, MAX_FILES);
    const left = files.length - taken.length;
    const from = { kind, channelId, senderId: sender.id, eventId, isForwarded };
    const input = { ...from, text, files: taken, left };
    const operation = {
      userId,
      resource: { kind: 'channel', id: channelId },
      title: `Files of a ${kind} message`,
      input,
      progress: { total: taken.length, unit: 'files' },
    };
    try {
      // The text is claimed by the event id itself when it is delivered.
      await operations.begin(operation, claimEvent(deps, { kind, eventId: `${eventId}:files` }));
      return null;
    } catch (error) {
      if (error instanceof UniqueViolation) return null;
      if (!Boom.isBoom(error, 409)) throw error;
      return `No file was stored: ${error.message}.`;
    }
  };

/**
 * Fetches files one by one, stores them, waits until they are indexed, passes the text to the
 * agents, and replies to the sender.
 */
export const filesOperation = (
  deps: MessageFilesDeps,
): OperationKind<FilesInput, FilesCheckpoint> => ({
  kind: 'channels.file',
  isResumable: true,
  isAdmins: false,
  most: MAX_WAITING,
  run: (run) => takeFiles(deps, run),
});

type FilesRun = OperationRun<FilesInput, FilesCheckpoint>;

const takeFiles = async (
  deps: MessageFilesDeps,
  run: FilesRun,
): ReturnType<OperationKind<FilesInput, FilesCheckpoint>['run']> => {
  const { kind, channelId, senderId: id, eventId, text, isForwarded = false } = run.input;
  const ended = await fetchFiles(deps, run);
  const outcomes: FileOutcome[] = [];
  for (const file of ended) outcomes.push(await waitForFileOutcome(deps, run, file));
  const channel = await deps.links.channelOf({ kind, id });
  if (channel?.id !== channelId) return { status: 'failed', error: 'The chat is no longer linked' };
  const spoken = transcriptsIn(outcomes);
  const words = [text, ...(isForwarded ? [] : spoken)].filter((each) => each !== '').join('\n');
  const content = { eventId, text: withDocuments(words, outcomes) };
  const refused = words === '' ? null : await sendTextOnce(deps, channel, content);
  const refusal = isForwarded && spoken.length > 0 ? NOT_OWN : refused;
  await answer(deps, run, { ended, body: formatFileReply(outcomes, run.input.left, refusal) });
  const documents = ended.flatMap((file) => ('id' in file ? [file.id] : []));
  const transcriptions = ended.flatMap((f) => ('transcriptionId' in f ? [f.transcriptionId] : []));
  const taken = documents.length + transcriptions.length;
  const result = {
    documents,
    ...(transcriptions.length > 0 && { transcriptions }),
    refused: ended.length - taken + run.input.left,
  };
  if (taken > 0) return { status: 'completed', result };
  return { status: 'failed', error: formatFileReply(outcomes, run.input.left, null), result };
};

const sendTextOnce = async (
  deps: MessageFilesDeps,
  channel: LinkedChannel,
  { eventId, text }: { eventId: string; text: string },
): Promise<string | null> => {
  if (text.length > MAX_MESSAGE_CHARACTERS) return MESSAGE_TOO_LONG;
  const steps = claimEvent(deps, { kind: channel.kind, eventId });
  try {
    await addChannelMessage(deps, channel, { text, steps });
  } catch (error) {
    if (error instanceof SessionBusy) return 'Another reply is in progress. Try again in a moment.';
    if (!(error instanceof UniqueViolation)) throw error;
  }
  return null;
};

const fetchFiles = async (deps: MessageFilesDeps, run: FilesRun): Promise<FetchedFile[]> => {
  const { kind, files, channelId, senderId: id } = run.input;
  const ended = [...(run.checkpoint?.ended ?? [])];
  for (const file of files.slice(ended.length)) {
    const channel = await deps.links.channelOf({ kind, id });
    if (channel?.id !== channelId) return ended;
    ended.push(await fetchWithRetries(deps, run, file));
    await run.commit([], buildRunState(run, ended));
  }
  return ended;
};

const buildRunState = ({ input }: FilesRun, ended: FetchedFile[]) => ({
  checkpoint: { ended },
  progress: { done: ended.length, total: input.files.length, unit: 'files', note: null },
});

/** Pauses between attempts, and their maximum. */
const PAUSES_MS = [2_000, 10_000, 60_000, 300_000];
const MAX_MS = 600_000;

const fetchWithRetries = async (
  deps: MessageFilesDeps,
  { userId, signal, input: { kind } }: FilesRun,
  file: FilesInput['files'][number],
): Promise<FetchedFile> => {
  for (let tries = 0; ; tries++) {
    const fetched = await fetchFile(deps, { userId, kind, file, signal });
    if (fetched.verdict === 'ended') return fetched.file;
    const pauseMs = PAUSES_MS[tries];
    if (pauseMs === undefined) return fetched.refused;
    const requested = Math.min(fetched.afterMs ?? 0, MAX_MS);
    await deps.clock.wait(Math.max(pauseMs, requested), signal);
  }
};

const waitForFileOutcome = async (
  { arrivals, voice }: MessageFilesDeps,
  { userId, signal }: FilesRun,
  file: FetchedFile,
): Promise<FileOutcome> => {
  if ('reason' in file) return { file, state: null };
  if ('transcriptionId' in file) {
    const wait = { waitMs: SPOKEN_MS, signal };
    const spoken = await voice.whenTranscribed(userId, file.transcriptionId, wait);
    signal.throwIfAborted();
    return { file, spoken };
  }
  const state = await arrivals.whenRead(userId, file.id, { waitMs: READ_MS, signal });
  signal.throwIfAborted();
  return { file, state };
};

/** Once per operation. */
const answer = async (
  deps: MessageFilesDeps,
  run: FilesRun,
  { ended, body }: { ended: FetchedFile[]; body: string },
): Promise<void> => {
  const { userId, id: causeId, input } = run;
  const target = { channelId: input.channelId };
  const message = { userId, target, causeId, kind: 'channel_files', content: { body } };
  await run.commit(addOutboundMessage(deps, message), buildRunState(run, ended));
  deps.queue.added(getMessageLane(message));
};
