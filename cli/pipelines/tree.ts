import type { PipelineRunDetail, PipelineTemplate } from '../../src/client/index.js';
import { duration, localTime, now, oneLine } from '../text.js';

type StageOfTemplate = PipelineTemplate['stages'][number];
export type StageOfRun = PipelineRunDetail['stages'][number];

export const templateTree = (stages: StageOfTemplate[]): string[] =>
  stageTree(stages, templateLabel);

export const runTree = ({ stages }: PipelineRunDetail): string[] => stageTree(stages, runLabel);

interface StageBranch<Stage> {
  stage: Stage;
  /** Branch lines before it. */
  lines: string;
  /** Keys of its dependencies besides the stage above it. */
  others: string[];
}

/** Stages in the order of a tree, each below the last stage that it needs. */
export const stageBranches = <Stage extends { key: string; needs?: string[] | undefined }>(
  stages: readonly Stage[],
): StageBranch<Stage>[] => {
  const order = new Map(stages.map(({ key }, at) => [key, at]));
  const depths = new Map<string, number>();
  const depth = (key: string): number => {
    const known = depths.get(key);
    if (known !== undefined) return known;
    const { needs = [] } = stages[order.get(key) ?? -1] ?? {};
    const deepest = Math.max(0, ...needs.map((need) => depth(need) + 1));
    depths.set(key, deepest);
    return deepest;
  };
  const parentOf = ({ needs = [] }: Stage): string | undefined =>
    needs
      .filter((need) => order.has(need))
      .sort((a, b) => depth(b) - depth(a) || (order.get(b) ?? 0) - (order.get(a) ?? 0))[0];
  const parents = new Map(stages.map((stage) => [stage.key, parentOf(stage)]));

  const below = (parent: string | undefined): Stage[] =>
    stages.filter(({ key }) => parents.get(key) === parent);
  const draw = (parent: string | undefined, indent: string): StageBranch<Stage>[] => {
    const children = below(parent);
    return children.flatMap((stage, at) => {
      const isLast = at === children.length - 1;
      const isRoot = parent === undefined;
      const branch = isRoot ? '' : isLast ? '└─ ' : '├─ ';
      const others = (stage.needs ?? []).filter((need) => need !== parent);
      return [
        { stage, lines: `${indent}${branch}`, others },
        ...draw(stage.key, isRoot ? '' : `${indent}${isLast ? '   ' : '│  '}`),
      ];
    });
  };
  return draw(undefined, '');
};

/** Draws stages as a tree, with further dependencies beside them. */
const stageTree = <Stage extends { key: string; needs?: string[] | undefined }>(
  stages: readonly Stage[],
  labelOf: (stage: Stage, others: string[]) => string,
): string[] =>
  stageBranches(stages).map(({ stage, lines, others }) => `${lines}${labelOf(stage, others)}`);

const runLabel = (stage: StageOfRun, others: string[]): string => {
  const { key, kind, status, startedAt, finishedAt, dueAt, reason, error } = stage;
  const end = finishedAt === null ? now() : Date.parse(finishedAt);
  const took = startedAt === null ? '' : ` ${duration(Math.max(0, end - Date.parse(startedAt)))}`;
  const until = finishedAt === null && dueAt !== null ? ` until ${localTime(dueAt)}` : '';
  const why = error ?? reason;
  return [
    oneLine(`${key}  ${kind}  ${status}${took}${until}${why === null ? '' : `: ${why}`}`),
    ...(others.length > 0 ? [`also needs ${others.join(', ')}`] : []),
  ].join('  ');
};

const templateLabel = (
  { key, kind, runIf = 'success', when = [], onError }: StageOfTemplate,
  others: string[],
): string =>
  [
    `${key}  ${kind}`,
    ...(runIf === 'success' ? [] : [`on ${runIf}`]),
    ...(when.length > 0 ? [`if ${when.map(({ field }) => field).join(', ')}`] : []),
    ...(others.length > 0 ? [`also needs ${others.join(', ')}`] : []),
    ...(typeof onError === 'object' ? [`on error back to ${onError.goto}`] : []),
    ...(onError === 'continue' ? ['continues on error'] : []),
  ].join('  ');

/** Whether the reason of a stage says that a person must act. */
export const needsPersonReason = (reason: string | null): boolean =>
  /\b(waits for you|is waiting|are waiting)$/.test(reason ?? '');
