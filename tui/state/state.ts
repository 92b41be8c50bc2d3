import type { Size } from '../parts/row.js';
import { type ListAction, type Lists, lists, reduceLists } from './lists.js';
import { type OverviewAction, type OverviewState, overview, reduceOverview } from './overview.js';
import { type ProgressEvent, type ProgressState, reduceProgress } from './progress.js';
import { type RepliesState, type ReplyAction, reduceReplies } from './replies.js';
import { reduceSession, type SessionAction, type SessionState, session } from './session.js';
import type { ReducerStore } from './store.js';
import { reduceStreams, type StreamAction, type StreamsState } from './streams.js';
import { reduceUi, type UiAction, type UiState, ui } from './ui.js';

interface ApprovalsState {
  /** Digests of calls whose last line was on screen. Only those can be approved. */
  seen: readonly string[];
}
const MAX_SEEN = 200;

/** The whole state of the desk. Every view is computed from it. */
export interface State {
  session: SessionState;
  overview: OverviewState;
  lists: Lists;
  streams: StreamsState;
  replies: RepliesState;
  paces: ProgressState;
  approvals: ApprovalsState;
  ui: UiState;
}

export type StateAction =
  | SessionAction
  | OverviewAction
  | ListAction
  | StreamAction
  | ReplyAction
  | ProgressEvent
  | { type: 'approval.seen'; digest: string }
  | UiAction;

export type DeskStore = ReducerStore<State, StateAction>;

export const initialState = (url: string, size: Size, now: number): State => ({
  session: session(url, now),
  overview: overview(),
  lists: lists(),
  streams: {},
  replies: {},
  paces: {},
  approvals: { seen: [] },
  ui: ui(size),
});

/** Passes each action to the slice that its type names. */
export const reduce = (state: State, action: StateAction): State => {
  switch (action.type) {
    case 'session.linked':
    case 'session.known':
    case 'session.ticked':
      return { ...state, session: reduceSession(state.session, action) };
    case 'overview.read':
    case 'overview.failed':
      return { ...state, overview: reduceOverview(state.overview, action) };
    case 'list':
      return { ...state, lists: reduceLists(state.lists, action) };
    case 'stream.added':
    case 'stream.gap':
      return { ...state, streams: reduceStreams(state.streams, action) };
    case 'reply.grew':
      return { ...state, replies: reduceReplies(state.replies, action) };
    case 'operation.heard': {
      const change = { do: 'put' as const, row: action.operation };
      const lists = reduceLists(state.lists, { type: 'list', name: 'operations', change });
      return { ...state, lists, paces: reduceProgress(state.paces, action) };
    }
    case 'approval.seen':
      return { ...state, approvals: { seen: seenWith(state.approvals, action.digest) } };
    default:
      return { ...state, ui: reduceUi(state.ui, action) };
  }
};

const seenWith = ({ seen }: ApprovalsState, digest: string): readonly string[] =>
  seen.includes(digest) ? seen : [...seen, digest].slice(-MAX_SEEN);
