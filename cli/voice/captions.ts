import type { TranscriptionDetail } from '../../src/client/index.js';

export type CaptionForm = 'srt' | 'vtt';

type Captioned = Pick<TranscriptionDetail, 'text' | 'segments' | 'durationSeconds'>;

/** Formats a transcription as subtitles: SubRip, or WebVTT of the W3C. */
export const formatCaptions = (form: CaptionForm, transcription: Captioned): string => {
  const cues = toCues(transcription).map(({ start, end, text }, at) => {
    const mark = form === 'srt' ? ',' : '.';
    const times = `${clock(start, mark)} --> ${clock(end, mark)}`;
    return [...(form === 'srt' ? [String(at + 1)] : []), times, safeCue(text), ''].join('\n');
  });
  return [...(form === 'vtt' ? ['WEBVTT', ''] : []), ...cues].join('\n');
};

/** The segments, or the whole text as one if the engine reports no times. */
const toCues = ({ text, segments, durationSeconds }: Captioned) =>
  segments.length > 0 || !text ? segments : [{ start: 0, end: durationSeconds ?? 0, text }];

/** An empty line would end a cue, and an arrow would begin the times of the next one. */
const safeCue = (text: string): string =>
  text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('-->', '→')
    .trim();

/** Hours, minutes, seconds and milliseconds: `00:01:02,500`. */
const clock = (seconds: number, mark: string): string => {
  const ms = Math.round(seconds * 1000);
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60];
  const [hours, minutes, rest] = parts.map((part) => String(Math.floor(part)).padStart(2, '0'));
  return `${hours}:${minutes}:${rest}${mark}${String(ms % 1000).padStart(3, '0')}`;
};
