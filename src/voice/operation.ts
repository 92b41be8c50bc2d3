import { type Clock, iso } from '../kernel/clock.js';
import type { OperationEnd, OperationKind, OperationRun, Workers } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { TranscriptionRow } from '../store/tables/voice.js';
import type { AudioFiles } from './audio.js';
import { AUDIO_SECONDS } from './contract.js';
import { type AudioFacts, DecodeFailed } from './decode/job.js';
import type { AudioKind } from './decode/kinds.js';
import { decodeInProcess } from './decoder.js';
import {
  addEngineText,
  type ChooseEngines,
  listReasons,
  type SkippedEngine,
} from './engines/choice.js';
import { EngineFailed, type SpeechEngine, type SpokenText } from './engines/engine.js';
import { nextPiece, type PieceSpan, readPiece } from './pieces.js';
import type { TranscriptionFacts, VoiceStore } from './queries.js';

export interface TranscribeInput {
  transcriptionId: string;
  kind: AudioKind;
}

interface TranscribeCheckpoint {
  /** Transcribed seconds and pieces. */
  until: number;
  pieces: number;
  passedOver: SkippedEngine[];
  language: string | null;
  costUsd: number | null;
}

type TranscribeRun = OperationRun<TranscribeInput, TranscribeCheckpoint>;

export interface TranscribeDeps {
  clock: Clock;
  rows: VoiceStore;
  audio: AudioFiles;
  workers: Workers;
  choose: ChooseEngines;
  ffmpeg(): Promise<string | null>;
}

const NOTHING: TranscribeCheckpoint = {
  until: 0,
  pieces: 0,
  passedOver: [],
  language: null,
  costUsd: null,
};
const UNIT = 'seconds';
/** Audio is stored until the end, so the number is limited. */
const MAX_UNFINISHED = 20;

export const transcribeOperation = (
  deps: TranscribeDeps,
): OperationKind<TranscribeInput, TranscribeCheckpoint> => ({
  kind: 'voice.transcribe',
  isResumable: true,
  isAdmins: false,
  isHeavy: true,
  most: MAX_UNFINISHED,
  run: async (run) => {
    const id = run.input.transcriptionId;
    try {
      const end = await transcribe(deps, run);
      await deps.audio.remove(id);
      return end;
    } catch (error) {
      const row = await deps.rows.get(run.userId, id);
      if (!row || isSettled(row)) await deps.audio.remove(id);
      throw error;
    }
  },
  ended: ({ resource_id: id }, status) => {
    const isFailed = status !== 'completed' && status !== 'cancelled';
    const end = {
      status: isFailed ? ('failed' as const) : status,
      error: isFailed ? 'The audio could not be transcribed' : null,
      code: status === 'interrupted' ? 'interrupted' : null,
      at: iso(deps.clock.now()),
    };
    return [deps.rows.end(id, end)];
  },
});

export const isSettled = ({ status }: Pick<TranscriptionRow, 'status'>): boolean =>
  status !== 'queued' && status !== 'running';

const transcribe = async (deps: TranscribeDeps, run: TranscribeRun): Promise<OperationEnd> => {
  const { rows } = deps;
  const row = await rows.get(run.userId, run.input.transcriptionId);
  if (!row) return { status: 'failed', error: 'The transcription was deleted' };
  // A failure stored before the daemon stopped.
  if (row.error !== null) return { status: 'failed', error: row.error };
  const at = run.checkpoint ?? NOTHING;
  if (run.checkpoint === null) await advance(run, at, 0, [rows.change(row.id, RUNNING)]);
  try {
    const facts = await decodedFacts(deps, run, row);
    const last = await transcribePieces(deps, run, { row, facts, at });
    return await finish(deps, run, { row, facts, at: last });
  } catch (error) {
    if (!(error instanceof DecodeFailed || error instanceof NoEngineAvailable)) throw error;
    const { message, code } = error;
    await advance(run, at, 0, [rows.change(row.id, { error: message.slice(0, 2000), code })]);
    return { status: 'failed', error: message };
  }
};

const RUNNING = { status: 'running' } as const;

class NoEngineAvailable extends Error {
  readonly code = 'no_engine';
}

const advance = (
  run: TranscribeRun,
  checkpoint: TranscribeCheckpoint,
  total: number,
  steps: TransactionStep[],
): Promise<void> => {
  const done = Math.round(checkpoint.until);
  const note = total === 0 ? 'decoding' : null;
  return run.commit(steps, {
    checkpoint,
    progress: { done, total: total === 0 ? null : Math.round(total), unit: UNIT, note },
  });
};

/** Decodes unless already done. */
const decodedFacts = async (
  { audio, workers, ffmpeg, rows }: TranscribeDeps,
  run: TranscribeRun,
  { id }: TranscriptionRow,
): Promise<AudioFacts> => {
  const known = await audio.decoded(id);
  if (known) return known;
  const facts = await decodeInProcess(workers, {
    userId: run.userId,
    job: {
      path: audio.pathOf(id),
      kind: run.input.kind,
      ffmpeg: await ffmpeg(),
      mostSeconds: AUDIO_SECONDS,
    },
    signal: run.signal,
    decoded: (seconds) =>
      run.progress({ done: 0, total: null, unit: UNIT, note: `decoded ${Math.round(seconds)} s` }),
    keep: (path, found) => audio.keepDecoded(id, path, found),
  });
  const change = rows.change(id, { duration_seconds: facts.seconds });
  await advance(run, run.checkpoint ?? NOTHING, facts.seconds, [change]);
  return facts;
};

interface RunningTranscription {
  row: TranscriptionRow;
  facts: AudioFacts;
  at: TranscribeCheckpoint;
}

/** Continues from the checkpoint. Throws NoEngineAvailable. */
const transcribePieces = async (
  deps: TranscribeDeps,
  run: TranscribeRun,
  { row, facts, at }: RunningTranscription,
): Promise<TranscribeCheckpoint> => {
  let now = at;
  const wish = { language: row.asked_language, model: row.asked_model };
  const chosen = await deps.choose(wish);
  const engines = chosen.engines.filter(
    ({ name }) => !now.passedOver.some(({ engine }) => engine === name),
  );
  for (;;) {
    const [engine] = engines;
    if (!engine) throw noneLeft(chosen.passedOver, now.passedOver);
    const span = nextPiece(facts.regions, now.until, engine.longestSeconds);
    if (!span) return now;
    const spoken = await spokenIn(deps, run, { row, span, engine });
    if (spoken instanceof EngineFailed) {
      engines.shift();
      const failed = { engine: engine.name, because: spoken.message.slice(0, 2000) };
      now = { ...now, passedOver: [...now.passedOver, failed] };
      continue;
    }
    const done = { ...now, pieces: now.pieces + 1, until: span.end, ...sums(now, spoken) };
    await advance(
      run,
      done,
      facts.seconds,
      buildPieceSteps(deps, { row, span, engine, spoken, at: done }),
    );
    now = done;
  }
};

const sums = (now: TranscribeCheckpoint, { language, costUsd }: SpokenText) => ({
  language: now.language ?? language,
  costUsd: costUsd === null ? now.costUsd : (now.costUsd ?? 0) + costUsd,
});

const noneLeft = (unavailable: SkippedEngine[], failed: SkippedEngine[]): NoEngineAvailable =>
  new NoEngineAvailable(
    `Every speech engine failed (${listReasons([...unavailable, ...failed])}). Upload the recording again, or add an engine: ${addEngineText(failed)}`,
  );

interface PieceAtWork {
  row: TranscriptionRow;
  span: PieceSpan;
  engine: SpeechEngine;
}

const spokenIn = async (
  { audio }: TranscribeDeps,
  run: TranscribeRun,
  { row, span, engine }: PieceAtWork,
): Promise<SpokenText | EngineFailed> => {
  const piece = await readPiece(audio.decodedPath(row.id), span);
  const { userId, id: askedBy, signal } = run;
  const { asked_language: language, prompt } = row;
  try {
    return await engine.transcribe(piece, { userId, askedBy, language, prompt, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EngineFailed) return error;
    throw error;
  }
};

const buildPieceSteps = (
  { rows }: TranscribeDeps,
  { row, span, engine, spoken, at }: PieceAtWork & { spoken: SpokenText; at: TranscribeCheckpoint },
): TransactionStep[] => {
  const { engine: name, model } = engine;
  const segments = spoken.segments.map(({ start, end, text }) => ({
    start: hundredths(span.start + start),
    end: hundredths(span.start + Math.max(start, end)),
    text: text.trim(),
  }));
  const piece = { transcription_id: row.id, number: at.pieces - 1, text: spoken.text.trim() };
  const facts: TranscriptionFacts = {
    engine: name,
    model,
    language: at.language,
    cost_usd: at.costUsd,
    passed_over: JSON.stringify(at.passedOver),
  };
  return [
    rows.insertPiece({ ...piece, segments: JSON.stringify(segments) }),
    rows.change(row.id, facts),
  ];
};

const hundredths = (seconds: number): number => Math.round(seconds * 100) / 100;

const finish = async (
  { rows }: TranscribeDeps,
  run: TranscribeRun,
  { row, facts, at }: RunningTranscription,
): Promise<OperationEnd> => {
  const pieces = await rows.pieces(run.userId, row.id);
  const text = pieces.flatMap((piece) => (piece.text === '' ? [] : [piece.text])).join(' ');
  const reason = text === '' ? emptyReason(facts) : null;
  await advance(run, { ...at, until: facts.seconds }, facts.seconds, [
    rows.change(row.id, { text, reason, duration_seconds: facts.seconds }),
  ]);
  return { status: 'completed', result: { transcriptionId: row.id, characters: text.length } };
};

const emptyReason = ({ regions }: AudioFacts): NonNullable<TranscriptionRow['reason']> => {
  if (regions.length === 0) return 'silence';
  return regions.some(({ isSpeech }) => isSpeech) ? 'not_understood' : 'no_speech';
};
