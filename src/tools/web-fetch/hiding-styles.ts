/** Names of elements that a style sheet hides. */
export interface HiddenSelectors {
  readonly classes: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
}

/** Selectors from rules outside of `@media` and similar blocks: `.name` and `#name`, alone or after an element name. */
export function hiddenSelectors(css: string): HiddenSelectors {
  const classes = new Set<string>();
  const ids = new Set<string>();
  let depth = 0;
  let from = 0;
  let selector = '';
  const text = withoutComments(css).replace(/<!--|-->/g, ' ');
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{') {
      if (depth++ === 0) selector = text.slice(from, at);
      from = at + 1;
    } else if (character === '}') {
      if (depth === 1 && !selector.includes('@') && isHiding(text.slice(from, at))) {
        for (const each of selector.split(',')) {
          const [, mark, name = ''] = /^\s*[a-z0-9]*([.#])([\w-]+)\s*$/i.exec(each) ?? [];
          if (mark !== undefined) (mark === '.' ? classes : ids).add(name);
        }
      }
      depth = Math.max(0, depth - 1);
      from = at + 1;
    } else if (character === ';' && depth === 0) from = at + 1;
  }
  return { classes, ids };
}

/**
 * An unterminated comment extends to the end, as in a browser. By index: a pattern would search the whole rest each
 * time.
 */
function withoutComments(css: string): string {
  const parts: string[] = [];
  for (let at = 0; at < css.length; ) {
    const begin = css.indexOf('/*', at);
    parts.push(css.slice(at, begin === -1 ? css.length : begin));
    const end = begin === -1 ? -1 : css.indexOf('*/', begin + 2);
    at = end === -1 ? css.length : end + 2;
  }
  return parts.join(' ');
}

/** Declarations that make an element unreadable. */
export function isHiding(style: string): boolean {
  const css = withoutEscapes(withoutComments(style))
    .toLowerCase()
    .replace(/\s+/g, '')
    .replaceAll('!important', '');
  return (
    HIDING.test(css) ||
    (TRANSPARENT.test(css) && !css.includes('background-clip:text')) ||
    (/(?:^|;)(?:max-)?(?:height|width):0(?:px|em|rem|%)?(?:;|$)/.test(css) &&
      /overflow(?:-[xy])?:(?:hidden|clip)/.test(css))
  );
}

/** `\6eone` is `none`. */
function withoutEscapes(css: string): string {
  if (!css.includes('\\')) return css;
  return css.replace(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_, code?: string, character = '') => {
    const point = Number.parseInt(code ?? '', 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : character;
  });
}

const HIDING = new RegExp(
  `(?:^|;)(?:${[
    'display:none',
    'visibility:(?:hidden|collapse)',
    'opacity:(?:-[\\d.]+|0*(?:\\.0\\d*)?)%?',
    'font-size:[01]?(?:\\.\\d+)?(?:px|pt)',
    'font-size:0*(?:\\.0\\d*)?(?:em|rem|%)?',
    'font:0(?:px)?/[^;]*',
    'filter:opacity\\(0*(?:\\.0+)?%?\\)',
    'zoom:0',
    'content-visibility:hidden',
    'text-indent:-\\d{3,}(?:\\.\\d+)?(?:px|em|rem|%)?',
    '(?:left|top|right|bottom):-\\d{3,}(?:\\.\\d+)?(?:px|em|rem|vw|vh|%)?',
    'clip:rect\\(0(?:px)?,0(?:px)?,0(?:px)?,0(?:px)?\\)',
    'clip:rect\\(1px,1px,1px,1px\\)',
    '(?:left|top|right|bottom):-\\d{2,}(?:\\.\\d+)?(?:em|rem)',
    'margin(?:-left|-top|-inline-start)?:-\\d{4,}(?:\\.\\d+)?(?:px|em|rem|vw|vh|%)?',
    'clip-path:inset\\((?:50|100)%\\)',
    'clip-path:circle\\(0(?:px|%)?(?:at[^;)]*)?\\)',
    'clip-path:polygon\\(0[0px%,]*\\)',
    'transform:scale[xy]?\\(0(?:\\.0+)?(?:,0(?:\\.0+)?)?\\)',
    'transform:translate(?:x|y|3d)?\\([^;)]*-\\d{4,}[^;)]*\\)',
    'scale:0',
  ].join('|')})(?:;|$)`,
);

/** With the background cut to the text, transparent letters are visible. */
const TRANSPARENT = new RegExp(
  `(?:^|;)color:(?:${[
    'transparent',
    '#[0-9a-f]{3}0',
    '#[0-9a-f]{6}00',
    '(?:rgb|hsl)a\\((?:[^,;)]*,){3}0*(?:\\.0+)?%?\\)',
    '(?:rgb|hsl)a?\\([^/;)]*/0*(?:\\.0+)?%?\\)',
  ].join('|')})(?:;|$)`,
);
