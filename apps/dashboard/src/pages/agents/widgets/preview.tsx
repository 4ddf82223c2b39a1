import { widgets as texts } from '../../../texts/widgets.ts';
import { inkOn } from '../../../widget/styles.ts';

const PAPER = {
  light: { background: '#fff', color: '#1a1a1a', borderColor: '#d8d8d8' },
  dark: { background: '#1b1c1e', color: '#f2f2f2', borderColor: '#3c3e42' },
};

interface Props {
  title: string;
  greeting: string;
  colour: string;
  scheme: 'light' | 'dark' | 'auto';
}

/** The widget as it will look; a colour that is half typed shows the last whole one there was. */
export function Preview({ title, greeting, colour, scheme }: Props) {
  const isDark = scheme === 'dark' || (scheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  const paper = PAPER[isDark ? 'dark' : 'light'];
  const shown = /^#[0-9a-f]{6}$/i.test(colour) ? colour : '#1f6f5c';
  return (
    <figure aria-label={texts.preview} className="min-w-0">
      <figcaption className="mb-1.5 text-[0.9rem] font-medium">{texts.preview}</figcaption>
      <div className="max-w-80 overflow-hidden rounded-xl border" style={paper}>
        <p className="px-4 py-3 font-semibold break-words" style={{ background: shown, color: inkOn(shown) }}>
          {title}
        </p>
        <div className="flex flex-col gap-2.5 p-4">
          <p
            className="max-w-[88%] self-start rounded-xl border px-3 py-2 break-words whitespace-pre-wrap"
            style={paper}
          >
            {greeting}
          </p>
          <p
            className="max-w-[88%] self-end rounded-xl px-3 py-2"
            style={{ background: isDark ? '#2b2d30' : '#efefef', color: paper.color }}
          >
            {texts.previewQuestion}
          </p>
        </div>
      </div>
    </figure>
  );
}
