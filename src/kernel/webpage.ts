export interface WebPage {
  /** Such as `/invite`. All pages share the stylesheet, `/invite/page.css`. */
  path: string;
  html(): URL;
  scripts: Record<string, () => URL>;
}
