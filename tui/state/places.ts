/** The screens of the ten digits, in their order. */
export const digitRoots = [
  'overview',
  'hooks',
  'agents',
  'approvals',
  'inbox',
  'vault',
  'models',
  'tunnel',
  'team',
  'logs',
] as const;
/** The screens that `g` and a letter open. */
export const letterRoots = {
  k: 'knowledge',
  o: 'operations',
  t: 'tasks',
  p: 'pipelines',
  c: 'capabilities',
  m: 'mail',
} as const;
type LetterRoot = (typeof letterRoots)[keyof typeof letterRoots];
export type Root = (typeof digitRoots)[number] | LetterRoot;
/** All screens: those of the digits, then the others. */
export const roots: readonly Root[] = [...digitRoots, ...Object.values(letterRoots)];

/** The names of the pages: the screens, and the pages that open below them. */
export const pageNames = [
  ...roots,
  ...(['hook', 'execution', 'agent', 'operation', 'browse'] as const),
  ...(['chunk', 'answer', 'document', 'report', 'task', 'runs', 'run', 'capability'] as const),
  ...(['message', 'thread'] as const),
];
export type PageName = (typeof pageNames)[number];

/** The target of a jump: a screen, what is selected there, and what is opened above it. */
export interface JumpTarget {
  root: Root;
  places: ScreenPlace[];
  selected?: string;
}

/** Returns the jump to a row of a screen. */
export const rowGoal = (root: Root, selected: string): JumpTarget => ({
  root,
  places: [],
  selected,
});

/** Returns the jump to the page of an agent. */
export const agentGoal = (id: string): JumpTarget => ({
  root: 'agents',
  places: [{ page: 'agent', id }],
  selected: id,
});

/** Returns the jump to the page of a hook, or of one of its executions. */
export const hookGoal = (id: string, runId: string | null = null): JumpTarget => ({
  root: 'hooks',
  places: [
    { page: 'hook', id },
    ...(runId === null ? [] : [{ page: 'execution' as const, id: runId, of: id }]),
  ],
  selected: id,
});

/** Returns the jump to the page of an execution whose hook is not known yet. */
export const executionGoal = (id: string): JumpTarget => ({
  root: 'hooks',
  places: [{ page: 'execution', id }],
});

/** Returns the jump to a chunk of the knowledge. */
export const chunkGoal = (entryId: string, chunk: number): JumpTarget => ({
  root: 'knowledge',
  places: [{ page: 'chunk', id: String(chunk), of: entryId }],
  selected: entryId,
});

/** Returns the place of a page of a document; pages count from 1. */
export const documentPlace = (id: string, page: number): ScreenPlace => ({
  page: 'document',
  id: String(page),
  of: id,
});

/** Returns the jump to the page of a task. */
export const taskJump = (id: string): JumpTarget => ({
  root: 'tasks',
  places: [{ page: 'task', id }],
  selected: id,
});

/** Returns the place of a run, with a stage of it selected if one is given. */
export const runPlace = (id: string, selected?: string): ScreenPlace => ({
  page: 'run',
  id,
  ...(selected !== undefined && { selected }),
});

/** Returns the jump to a run of a pipeline. */
export const runJump = (id: string, stage?: string): JumpTarget => ({
  root: 'pipelines',
  places: [runPlace(id, stage)],
  selected: id,
});

/** Returns the jump to an operation. */
export const operationJump = (id: string): JumpTarget => ({
  root: 'operations',
  places: [{ page: 'operation', id }],
  selected: id,
});

/** Returns the place of a question of research, with its report. */
export const reportPlace = (id: string): ScreenPlace => ({ page: 'report', id });

/** A place on the desk: a page and what it shows. */
export interface ScreenPlace {
  page: PageName;
  /** Id of the one thing that the page shows; null if it does not show one. */
  id: string | null;
  /**
   * The parent of that thing: the hook of an execution, the entry of a chunk, the document of a
   * page, the run whose stage has begun runs, or the resource that is browsed.
   */
  of?: string;
  /** Id of the row that is selected at first; the first row if absent. */
  selected?: string | null;
}
