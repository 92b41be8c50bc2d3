import type { ScreenPage } from '../../page.js';
import { lookOf } from '../../state/ui.js';
import { agentGoal, replayAct, shownExecution } from '../hooks/slice.js';
import { executionHead, executionRows, executionView } from './view.js';

export const executionPage: ScreenPage = {
  name: 'execution',
  root: 'hooks',
  title: 'Execution',
  tabs: ['Timeline', 'Payload', 'Result'],
  text: executionRows,
  textHeight: (_, { height }) => height - 3,
  related: (state) => agentGoal(shownExecution(state)),
  acts: (state) => {
    const run = shownExecution(state);
    return run ? { replay: replayAct(run) } : {};
  },
  needs: ({ ui }) => [{ is: 'list', list: 'executions', of: lookOf(ui).of ?? null, everyMs: 5000 }],
  view: executionView,
  head: executionHead,
};
