import type { Client, PipelineRun, PipelineRunDetail } from '../../src/client/index.js';
import { failed } from '../exit.js';
import { oneLine, revealInvisible, safe } from '../text.js';
import { needsPersonReason, type StageOfRun } from './tree.js';
import type { ValueField } from './values.js';

/** Kinds of stages that start runs of their own. */
const NESTING: readonly string[] = ['foreach', 'pipeline'];

/** Identifies a run. A nested run is in no list, so it needs its full id. */
export const shortId = ({ id, parentId }: Pick<PipelineRun, 'id' | 'parentId'>): string =>
  parentId === null ? id.slice(-6) : id;

/** What a run asks for, and the commands that answer it. */
export const answerHints = (run: PipelineRunDetail): string[] =>
  run.stages.flatMap((stage) => {
    const { kind, status, input, reason } = stage;
    if (NESTING.includes(kind) && status === 'running' && needsPersonReason(reason)) {
      return [
        `Show the waiting runs: adjutant pipelines list --parent-id ${run.id} --status ` +
          'waiting',
      ];
    }
    if (status !== 'waiting_input' && status !== 'waiting_approval') return [];
    const fields = status === 'waiting_input' ? getInputFields(input) : [];
    return [...questionLines(stage), ...fields.map(fieldLine), ...answerLines(run, stage)];
  });

/**
 * The question of a stage: its message, or the call to approve. Each line is marked, so that none
 * looks like one of this command.
 */
export const questionLines = ({ input, untrusted, digest }: QuestionOfStage): string[] => {
  const message: unknown = Object(input).message;
  const text = typeof message === 'string' ? message : JSON.stringify(input, null, 2);
  return [
    ...revealInvisible(text)
      .split('\n')
      .map((line) => `> ${line}`),
    `${untrusted ? 'UNTRUSTED: the stage contains content from outside. ' : ''}Digest ` +
      `${digest?.slice(0, 8)}.`,
  ];
};

type QuestionOfStage = Pick<PipelineRunDetail['stages'][number], 'input' | 'untrusted' | 'digest'>;

interface AskedStage {
  id: string;
  key: string;
  /** Kind of the answer. */
  is: 'approval' | 'input';
}

/** Finds what a stage waits for. Throws if it waits for nothing, or for another kind of answer. */
export const waitingStage = async (client: Client, { id, key, is }: AskedStage) => {
  const run = await client.pipelines.get({ id });
  const stage = run.stages.find((each) => each.key === key);
  if (!stage)
    throw failed(
      `The run has no stage "${safe(key)}".`,
      `Stages: ${run.stages.map((each) => each.key).join(', ')}`,
    );
  const { status, digest, input, untrusted } = stage;
  if (digest === null) throw failed(`${safe(key)} is ${status} and does not wait for an answer.`);
  if (status === `waiting_${is}`) return { digest, input, untrusted };
  const what = status === 'waiting_input' ? 'values' : 'an approval';
  throw failed(`${safe(key)} waits for ${what}.`, ...answerLines(run, stage));
};

export const getInputFields = (input: unknown): ValueField[] => Object(input).fields ?? [];

/** A field as a line: `size  How long: choice of short, long, required`. */
const fieldLine = ({ key, label, type, options = [], required }: ValueField): string => {
  const kind = options.length > 0 ? `${type} of ${options.join(', ')}` : type;
  const about = label === undefined || label === key ? kind : `${label}: ${kind}`;
  return oneLine(`  ${key}  ${about}${required ? ', required' : ''}`);
};

const answerLines = (
  run: Pick<PipelineRun, 'id' | 'parentId'>,
  { key, status, input }: Pick<StageOfRun, 'key' | 'status' | 'input'>,
): string[] => {
  const stage = `${shortId(run)} ${key}`;
  if (status !== 'waiting_input')
    return [`Decide: adjutant pipelines approve ${stage}   or reject`];
  const command = `adjutant pipelines input ${stage}`;
  const values = getInputFields(input).map((field) => `${field.key}=...`);
  return [`Answer: ${command}`, oneLine(`or: ${[command, ...values].join(' ')}`)];
};
