import { formatProgressCounts } from '../../cli/operations/counts.js';
import type { Operation } from '../../src/kernel/contract/operation.js';
import { visibleText } from './json.js';

/** Progress of an operation, as a bar and in words. */
export const Progress = ({
  of: { done, total, unit, note },
  isOver,
}: {
  of: NonNullable<Operation['progress']>;
  isOver: boolean;
}) => (
  <p class="progress">
    {total !== null && total > 0 && !isOver && (
      <progress aria-label="Progress" max={total} value={Math.min(done, total)} />
    )}
    <span>
      {total !== null && total > 0 && `${Math.floor(Math.min(1, done / total) * 100)} %, `}
      {visibleText(formatProgressCounts({ done, total, unit, note }))}
    </span>
  </p>
);
