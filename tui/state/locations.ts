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
/** Screens opened by `g` and a letter. */
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
export const roots: readonly Root[] = [...digitRoots, ...Object.values(letterRoots)];

/** The screens, and the pages that open below them. */
export const pageNames = [
  ...roots,
  ...(['hook', 'execution', 'agent', 'operation', 'browse'] as const),
  ...(['chunk', 'answer', 'document', 'report', 'task', 'runs', 'run', 'capability'] as const),
  ...(['message', 'thread', 'sentmail', 'org'] as const),
];
export type PageName = (typeof pageNames)[number];

export interface JumpTarget {
  root: Root;
  places: ScreenPlace[];
  selected?: string;
  /** Tab of the screen. The last shown one if absent. */
  tab?: number;
}

export const rowTarget = (root: Root, selected: string): JumpTarget => ({
  root,
  places: [],
  selected,
});

export const agentTarget = (id: string): JumpTarget => ({
  root: 'agents',
  places: [{ page: 'agent', id }],
  selected: id,
});

export const hookTarget = (id: string, runId: string | null = null): JumpTarget => ({
  root: 'hooks',
  places: [
    { page: 'hook', id },
    ...(runId === null ? [] : [{ page: 'execution' as const, id: runId, of: id }]),
  ],
  selected: id,
});

/** The hook of the execution is not known yet. */
export const executionTarget = (id: string): JumpTarget => ({
  root: 'hooks',
  places: [{ page: 'execution', id }],
});

export const chunkTarget = (entryId: string, chunk: number): JumpTarget => ({
  root: 'knowledge',
  places: [{ page: 'chunk', id: String(chunk), of: entryId }],
  selected: entryId,
});

/** Pages count from 1. */
export const documentPlace = (id: string, page: number): ScreenPlace => ({
  page: 'document',
  id: String(page),
  of: id,
});

export const taskTarget = (id: string): JumpTarget => ({
  root: 'tasks',
  places: [{ page: 'task', id }],
  selected: id,
});

/** Run, with the given stage selected. */
export const runPlace = (id: string, selected?: string): ScreenPlace => ({
  page: 'run',
  id,
  ...(selected !== undefined && { selected }),
});

export const runTarget = (id: string, stage?: string): JumpTarget => ({
  root: 'pipelines',
  places: [runPlace(id, stage)],
  selected: id,
});

export const operationPageTarget = (id: string): JumpTarget => ({
  root: 'operations',
  places: [{ page: 'operation', id }],
  selected: id,
});

/** Sent e-mail, below the third tab of the mail screen. */
export const sentMailTarget = (id: string): JumpTarget => ({
  root: 'mail',
  places: [{ page: 'sentmail', id }],
  selected: id,
  tab: 2,
});

/** Mail account in the last tab of the mail screen. */
export const mailAccountTarget = (id: string): JumpTarget => ({
  ...rowTarget('mail', id),
  tab: 3,
});

/** List of organizations: the last tab of the team screen. */
export const orgsTarget: JumpTarget = { root: 'team', places: [], tab: 4 };

export const reportPlace = (id: string): ScreenPlace => ({ page: 'report', id });

export interface ScreenPlace {
  page: PageName;
  /** Id of the shown object. `null` if the page shows several. */
  id: string | null;
  /**
   * Parent of the object: the hook of an execution, the entry of a chunk, the document of a page,
   * the run of a stage, or the browsed resource.
   */
  of?: string;
  selected?: string | null;
}
