import type { Operation } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { row, tonedSpan } from '../../parts/row.js';
import { factRows, jsonRows } from '../../parts/text.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { detailPage } from '../detail.js';
import {
  OPERATION_WORDS,
  operationActs,
  operationFacts,
  operationNeeds,
  operationTarget,
  progressText,
  resultRows,
} from './operations.js';

const shownOperation = ({ ui, lists }: State): Operation | null =>
  lists.operations.byId[topView(ui).id ?? ''] ?? null;

export const operationPage: ScreenPage = {
  ...detailPage<Operation>({
    name: 'operation',
    title: 'Operation',
    noun: 'operation',
    tabs: [],
    list: 'operations',
    shown: shownOperation,
    head: (state, operation) => {
      const { id, title, status } = operation;
      const word = state.lists.operations.busy[id] ?? status;
      return [
        row(tonedSpan('strong', title), '   ', tonedSpan(findStateTone(word), word)),
        row(progressText(state, operation)),
      ];
    },
    text: (state, operation, width) => {
      const { isRaw, isWrapped } = topView(state.ui);
      if (isRaw) return jsonRows(operation, width, isWrapped);
      return [
        ...factRows(operationFacts(state, operation), width),
        ...resultRows(operation, width),
      ];
    },
  }),
  acts: (state) => {
    const operation = shownOperation(state);
    return operation ? operationActs(operation) : {};
  },
  related: (state) => {
    const operation = shownOperation(state);
    return operation ? operationTarget(operation) : null;
  },
  line: ({ ui }) => `adjutant operations watch ${topView(ui).id}`,
  glossary: OPERATION_WORDS,
  needs: () => operationNeeds,
};
