import { Box } from 'ink';
import { useEffect } from 'react';
import { hintsView, messageView, ruleView, tabsView, titleView } from './frame/bars.js';
import { helpView } from './frame/help.js';
import { sheetView, sizeView } from './frame/sheets.js';
import { isFirstVisit, welcomeView } from './frame/welcome.js';
import type { PageNeed } from './page.js';
import { Desk, type DeskContext, useDeskState } from './parts/desk.js';
import { Rows } from './parts/rows.js';
import { screenPage } from './screens.js';
import { isTooSmall, messageHeight, sheetHeight } from './state/layout.js';
import { createNeedHolder } from './state/needs.js';
import type { State } from './state/state.js';

export const App = ({ desk }: { desk: DeskContext }) => {
  useEffect(() => holdNeeds(desk), [desk]);
  return (
    <Desk value={desk}>
      <Frame />
    </Desk>
  );
};

/**
 * The painter draws every region, so Ink draws nothing. The absolute position keeps Ink's own
 * output empty: drawing it would take most of the time of each key press.
 */
const Frame = () => {
  const size = useDeskState(({ ui }) => ui.size);
  const isSmall = useDeskState(isTooSmall);
  if (isSmall) {
    return (
      <Box position="absolute" {...size}>
        <Rows view={sizeView} />
      </Box>
    );
  }
  return (
    <Box position="absolute" {...size} flexDirection="column">
      <Rows view={titleView} height={1} />
      <Rows view={tabsView} height={1} />
      <Rows view={ruleView} height={1} />
      <Body />
      <Sheet />
      <Message />
      <Rows view={hintsView} height={1} />
    </Box>
  );
};

const Body = () => {
  const page = useDeskState(screenPage);
  const isHelp = useDeskState(({ ui }) => ui.isHelp);
  const isUnknown = useDeskState(isFirstVisit);
  if (isHelp) return <Rows view={helpView} />;
  return <Rows view={isUnknown ? welcomeView : page.view} />;
};

const Sheet = () => {
  const height = useDeskState(sheetHeight);
  return height === 0 ? null : <Rows view={sheetView} height={height} />;
};

const Message = () => <Rows view={messageView} height={useDeskState(messageHeight)} />;

/** The count of approvals in the title must be right on every screen. */
const COUNTED: PageNeed = { is: 'list', list: 'approvals', everyMs: 30_000 };

/** Loads and subscribes to the data of the page on top. */
const holdNeeds = ({ store, feed, clock }: DeskContext): (() => void) => {
  const hold = createNeedHolder({ feed, clock });
  const needsIn = (state: State): PageNeed[] => [COUNTED, ...screenPage(state).needs(state)];
  let isPlanned = false;
  const holdAll = (): void => {
    isPlanned = false;
    hold(needsIn(store.get()));
  };
  holdAll();
  // Handling a first need may change the state at once, so new needs are read in a microtask.
  const stop = store.subscribe(
    (state) => JSON.stringify(needsIn(state)),
    () => {
      if (!isPlanned) queueMicrotask(holdAll);
      isPlanned = true;
    },
  );
  return () => {
    stop();
    hold([]);
  };
};
