import type { ScreenPage } from '../../page.js';
import { bodyOf } from '../../state/layout.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { approvalActs, approvalItems, waitingOf } from './slice.js';
import { approvalCells, approvalsView, callHeight, callText, chosenCall } from './view.js';

/** True if the last line of the selected call is on screen now. */
const isAtEnd = (state: State): boolean => {
  const size = bodyOf(state);
  const text = callText(state, size.width, size.height);
  const seen = lookOf(state.ui).scroll + callHeight(state, size);
  return text !== null && seen >= text.length;
};

export const approvalsPage: ScreenPage = {
  name: 'approvals',
  root: 'approvals',
  title: 'Approvals',
  tabs: [],
  items: approvalItems,
  text: (state, width) => callText(state, width, bodyOf(state).height),
  textHeight: callHeight,
  noticed: (state) => {
    const call = chosenCall(state);
    if (!call || state.approvals.seen.includes(call.digest) || !isAtEnd(state)) return null;
    return { type: 'approval.seen', digest: call.digest };
  },
  acts: (state) => {
    const call = chosenCall(state);
    if (!call) return {};
    return approvalActs(state, call, state.approvals.seen.includes(call.digest) || isAtEnd(state));
  },
  related: (state) => {
    const id = chosenCall(state)?.agentId;
    return id ? { root: 'agents', places: [{ page: 'agent', id }], selected: id } : null;
  },
  pages: () => 'approvals',
  summary: (state) => {
    const waiting = waitingOf(state);
    return `${waiting} ${waiting === 1 ? 'waits' : 'wait'} for you`;
  },
  glossary: [
    ['UNTRUSTED', 'the agent has read what came from outside'],
    ['digest', 'names this exact call; another one is refused'],
  ],
  needs: () => [{ is: 'list', list: 'agents' }],
  view: approvalsView,
  cells: approvalCells,
};
