import { NamedError } from '../kernel/failure.js';

export class DownloadFailed extends NamedError {
  constructor(
    message: string,
    /** True if the partial file can be resumed. */
    readonly isResumable: boolean,
    /** Pause that a busy server requests, in milliseconds. null: the server is not busy. */
    readonly busyMs: number | null = null,
  ) {
    super(message);
  }
}
