//! The page around the blocks.

use super::encode::{escaped, source_hash};
use super::{Block, Points, Report, Section, embedded, points};
use crate::web;

/// Writes the page; lengths have been checked.
pub(super) fn write(report: &Report) -> String {
    let style = [web::BASE_CSS, web::REPORT_CSS].concat();
    let script = [web::POINTS_JS, web::FIGURES_JS, web::REPORT_JS].concat();
    let title = escaped(&report.title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; \
         style-src {}; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        source_hash(&script),
        source_hash(&style),
    );
    write_top(&mut out, report);
    write_contents(&mut out, &report.sections);
    out.push_str("<main>\n");
    for (k, section) in report.sections.iter().enumerate() {
        write_section(&mut out, k, section);
    }
    out.push_str("</main>\n</div>\n");
    out.push_str(&format!("<script>{script}</script>\n</body>\n</html>\n"));
    out
}

/// Title and warnings, above everything else.
fn write_top(out: &mut String, report: &Report) {
    out.push_str("<header class=\"top\">\n");
    out.push_str(&format!("<h1>{}</h1>\n", escaped(&report.title)));
    if !report.subtitle.is_empty() {
        out.push_str(&format!("<p class=\"subtitle faint\">{}</p>\n", escaped(&report.subtitle)));
    }
    if report.warnings.is_empty() {
        out.push_str("<p class=\"no-warnings\">No warnings.</p>\n");
    } else {
        let count = report.warnings.len();
        let heading = if count == 1 { "1 warning".to_owned() } else { format!("{count} warnings") };
        out.push_str(&format!("<div class=\"warnings\" role=\"note\"><h2>{heading}</h2>\n<ul>\n"));
        for warning in &report.warnings {
            out.push_str(&format!("<li>{}</li>\n", escaped(warning)));
        }
        out.push_str("</ul></div>\n");
    }
    out.push_str("</header>\n");
}

/// The table of contents; there is none for a single section.
fn write_contents(out: &mut String, sections: &[Section]) {
    if sections.len() < 2 {
        out.push_str("<div class=\"columns single\">\n");
        return;
    }
    out.push_str("<div class=\"columns\">\n<nav class=\"contents\" aria-label=\"Contents\">\n<ol>\n");
    for (k, section) in sections.iter().enumerate() {
        out.push_str(&format!("<li><a href=\"#s{}\">{}</a></li>\n", k + 1, escaped(&section.heading)));
    }
    out.push_str("</ol>\n</nav>\n");
}

fn write_section(out: &mut String, k: usize, section: &Section) {
    let heading = escaped(&section.heading);
    out.push_str(&format!("<section class=\"card\" id=\"s{}\">\n<h2>{heading}</h2>\n", k + 1));
    for block in &section.blocks {
        write_block(out, block);
    }
    out.push_str("</section>\n");
}

fn write_block(out: &mut String, block: &Block) {
    match block {
        Block::Text { lines } => {
            for line in lines {
                out.push_str(&format!("<p>{}</p>\n", escaped(line)));
            }
        }
        Block::Facts { rows } => {
            out.push_str("<dl class=\"facts\">\n");
            for (name, value) in rows {
                out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value)));
            }
            out.push_str("</dl>\n");
        }
        Block::Preformatted { text } => {
            out.push_str(&format!("<pre tabindex=\"0\">{}</pre>\n", leading_line_kept(text)));
        }
        Block::Command { text } => {
            out.push_str(&format!(
                "<div class=\"command\"><pre tabindex=\"0\"><code>{}</code></pre></div>\n",
                escaped(text)
            ));
        }
        Block::Table { heading, rows, caption } => write_table(out, heading, rows, caption),
        Block::Figure { name, svg, caption } => {
            out.push_str(&format!(
                "<figure>\n<h3>{}</h3>\n<div class=\"figure\">{}</div>\n",
                escaped(name),
                embedded::picture(svg)
            ));
            write_caption(out, caption);
            out.push_str("</figure>\n");
        }
        Block::Points(points) => write_points(out, points),
    }
}

/// Why: HTML drops a line break right after `<pre>`.
fn leading_line_kept(text: &str) -> String {
    let start = if text.starts_with('\n') { "\n" } else { "" };
    format!("{start}{}", escaped(text))
}

fn write_caption(out: &mut String, caption: &str) {
    if !caption.is_empty() {
        out.push_str(&format!("<figcaption>{}</figcaption>\n", escaped(caption)));
    }
}

fn write_points(out: &mut String, points: &Points) {
    out.push_str(&format!(
        "<figure class=\"points-block\">\n<h3>{}</h3>\n\
         <noscript><p>This picture is drawn by a script; allow scripts for this file to see it.</p></noscript>\n\
         <script type=\"application/json\">{}</script>\n",
        escaped(&points.name),
        points::data(points)
    ));
    write_caption(out, &points.caption);
    out.push_str("</figure>\n");
}

fn write_table(out: &mut String, heading: &[String], rows: &[Vec<String>], caption: &str) {
    let right: Vec<bool> = (0..heading.len())
        .map(|j| {
            let mut said =
                rows.iter().filter_map(|row| row.get(j)).filter(|cell| !cell.trim().is_empty()).peekable();
            said.peek().is_some() && said.all(|cell| is_number(cell))
        })
        .collect();
    let cell = |tag: &str, scope: &str, text: &str, j: usize| {
        let class = if right.get(j) == Some(&true) { " class=\"number\"" } else { "" };
        format!("<{tag}{scope}{class}>{}</{tag}>", escaped(text))
    };
    let label = escaped(if caption.is_empty() { "Table" } else { caption });
    out.push_str(&format!(
        "<div class=\"scroll block\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table>\n"
    ));
    if !caption.is_empty() {
        out.push_str(&format!("<caption>{}</caption>\n", escaped(caption)));
    }
    out.push_str("<thead><tr>");
    heading.iter().enumerate().for_each(|(j, text)| out.push_str(&cell("th", " scope=\"col\"", text, j)));
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        row.iter().enumerate().for_each(|(j, text)| out.push_str(&cell("td", "", text, j)));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// Whether a cell reads as a number, also with a typographic minus, a unit of percent or an interval sign.
fn is_number(cell: &str) -> bool {
    let cell = cell.trim().trim_start_matches(['≤', '≥', '<', '>', '~', '±', '≈']).trim_start();
    let cell = cell.trim_end_matches('%').trim_end().replace('−', "-").replace(',', "");
    !cell.is_empty() && (cell == "∞" || cell == "-∞" || cell == "–" || cell.parse::<f64>().is_ok())
}
