import { needsPersonReason } from '../../../cli/pipelines/tree.js';
import { markedRows } from '../../parts/marks.js';
import { row, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { factRows } from '../../parts/text.js';
import { durationText, timeOfEvent } from '../../parts/times.js';
import type { StageBrief, StageItem } from '../../state/pipelineruns.js';
import type { State } from '../../state/state.js';
import { findStateTone, type Tone } from '../../theme.js';

/** Sign before the state of a stage. The state itself follows as a word. */
const SIGNS: Record<StageBrief['status'], string> = {
  pending: '.',
  running: '*',
  waiting_approval: '?',
  waiting_input: '?',
  completed: '+',
  failed: '!',
  skipped: '-',
  stopped: 'x',
};

/** `? waiting_approval`. */
export const signedState = ({ status }: Pick<StageBrief, 'status'>): string =>
  `${SIGNS[status]} ${status}`;

export const stageTone = ({ status }: Pick<StageBrief, 'status'>): Tone | undefined =>
  status === 'pending' || status === 'skipped' ? 'muted' : findStateTone(status);

export const isStageOver = ({ finishedAt }: StageItem): boolean => finishedAt !== null;

/** Whether a stage waits for a person, also within an agent or a nested run. */
export const needsPerson = ({ status, reason }: StageBrief): boolean =>
  status.startsWith('waiting') || (status === 'running' && needsPersonReason(reason));

/** Reason for the state of a stage. Empty if there is none. */
export const stageReason = ({ error, reason }: Pick<StageItem, 'error' | 'reason'>): string =>
  error ?? reason ?? '';

const nameOfStage = ({ key, name }: StageItem): string => (name === key ? key : `${key} (${name})`);

/** Maximum columns of the tree lines, so that names have room in a long chain. */
const MAX_LINES = 16;

/** Tree lines before a stage, two columns for each level. Only the last levels are kept. */
export const treeLines = (lines: string): string => {
  const narrow = lines.replace(/(.)[─ ] /g, '$1 ');
  return narrow.length <= MAX_LINES ? narrow : `…${narrow.slice(1 - MAX_LINES)}`;
};

/** Part of the digest that a user compares. */
export const shortDigest = ({ digest }: StageItem): string => (digest ?? '').slice(0, 8);

export const stageDuration = (
  { startedAt, finishedAt }: Pick<StageItem, 'startedAt' | 'finishedAt'>,
  now: number,
): string => {
  if (startedAt === null) return '';
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  return durationText(Math.max(0, end - Date.parse(startedAt)));
};

/** The full request of a stage: its message, then the call or the fields. */
export const stageRequestText = ({ input }: Pick<StageItem, 'input'>): string => {
  const { message, ...others } = Object(input);
  if (typeof message !== 'string') return JSON.stringify(input, null, 2);
  return Object.keys(others).length === 0
    ? message
    : `${message}\n${JSON.stringify(others, null, 2)}`;
};

/** The full request. Nothing is cut unless it is too long for the desk. */
export const stageRequestRows = (stage: StageItem, width: number): ScreenRow[] =>
  markedRows(stageRequestText(stage), [], width);

const renderStageFacts = ({ session: { now } }: State, stage: StageItem): [string, string][] => {
  const { kind, needs, attempt, visits, agentId, operationId, startedAt, untrusted } = stage;
  const facts: [string, string][] = [['Kind', kind]];
  if (needs.length > 0) facts.push(['After', needs.join(', ')]);
  if (stage.reason !== null) facts.push(['Reason', stage.reason]);
  if (stage.error !== null) facts.push(['Error', stage.error]);
  if (startedAt !== null) {
    const word = isStageOver(stage) ? 'took' : 'for';
    facts.push([
      'Started',
      `${timeOfEvent(startedAt, now)}   ${word} ${stageDuration(stage, now)}`,
    ]);
  }
  if (attempt > 1) facts.push(['Attempt', String(attempt)]);
  if (visits > 1) facts.push(['Visits', String(visits)]);
  if (agentId !== null) facts.push(['Agent', `${agentId}   o opens it`]);
  if (operationId !== null) facts.push(['Operation', `${operationId}   o opens it`]);
  if (untrusted) facts.push(['Trust', 'UNTRUSTED: the stage contains external input']);
  if (stage.digest !== null) facts.push(['Digest', stage.digest]);
  return facts;
};

const valueRows = (title: string, value: unknown, width: number): ScreenRow[] =>
  value === null || value === undefined
    ? []
    : [
        [],
        row(tonedSpan('strong', title)),
        ...markedRows(
          typeof value === 'string' ? value : JSON.stringify(value, null, 2),
          [],
          width,
        ),
      ];

const HOW = {
  waiting_approval: 'A approves, x denies. Nothing has run.',
  waiting_input: 'i asks for each field on the command line.',
};

/** The request, if the stage waits for a decision; else its input. */
const inputRows = (stage: StageItem, width: number): ScreenRow[] => {
  const { status, input } = stage;
  if (status !== 'waiting_approval' && status !== 'waiting_input')
    return valueRows('Input', input, width);
  return [
    [],
    row(tonedSpan('strong', 'Request')),
    ...stageRequestRows(stage, width),
    [],
    row(tonedSpan('muted', HOW[status])),
  ];
};

export const stageRows = (state: State, stage: StageItem, width: number): ScreenRow[] => [
  row(
    tonedSpan('strong', nameOfStage(stage)),
    '   ',
    tonedSpan(stageTone(stage), signedState(stage)),
  ),
  ...factRows(renderStageFacts(state, stage), width),
  ...inputRows(stage, width),
  ...valueRows('Output', stage.output, width),
];
