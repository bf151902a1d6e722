//! How much memory this process can have: what the machine, its control groups and its own limits leave.

use std::path::{Path, PathBuf};

/// Bytes that this process can have beside what it holds; `None` where the system does not tell.
pub(super) fn available() -> Option<u64> {
    available_under(Path::new("/"))
}

/// As [`available`], for the files under `root`.
fn available_under(root: &Path) -> Option<u64> {
    let proc = root.join("proc");
    let free = table_entry(&read(&proc.join("meminfo"))?, "MemAvailable:")?;
    let own = read(&proc.join("self/status")).unwrap_or_default();
    let limits = read(&proc.join("self/limits")).unwrap_or_default();
    let left = [("Max address space", "VmSize:"), ("Max data size", "VmData:")].map(|(limit, used)| {
        Some(soft_limit(&limits, limit)?.saturating_sub(table_entry(&own, used).unwrap_or(0)))
    });
    left.into_iter().flatten().chain(groups_under(root)).chain([free]).min()
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The value of a line `NAME 123 kB`, in bytes.
fn table_entry(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit of a line of `/proc/self/limits`; `None` when there is none.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// How control groups tell their limit, their use, and the entries of `memory.stat` that are page cache, which is given back
/// when memory runs short.
struct Names {
    limit: &'static str,
    usage: &'static str,
    cache: [&'static str; 2],
}

const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};
const VERSION_2: Names =
    Names { limit: "memory.max", usage: "memory.current", cache: ["inactive_file", "active_file"] };

/// What each control group that this process is in, and each group around it, leaves.
fn groups_under(root: &Path) -> Vec<u64> {
    let own = read(&root.join("proc/self/cgroup")).unwrap_or_default();
    let mounts = read(&root.join("proc/self/mountinfo")).unwrap_or_default();
    let mut left = Vec::new();
    for line in own.lines() {
        // Number, controllers, path.
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let names = match controllers {
            "" => &VERSION_2,
            some if some.split(',').any(|name| name == "memory") => &VERSION_1,
            _ => continue,
        };
        let Some((top, from)) = mount_of(&mounts, controllers.is_empty()) else { continue };
        let top = root.join(top.trim_start_matches('/'));
        // Inside of a container the path may be told from outside of it: then the mount itself is the group.
        let inside = Path::new(path).strip_prefix(from).unwrap_or(Path::new(""));
        let parts = inside.components().filter(|part| matches!(part, std::path::Component::Normal(_)));
        let mut group: PathBuf = top;
        left.extend(left_in(&group, names));
        for part in parts {
            group.push(part);
            left.extend(left_in(&group, names));
        }
    }
    left
}

/// Where groups are mounted, and which group is mounted there.
fn mount_of(mounts: &str, unified: bool) -> Option<(&str, &str)> {
    mounts.lines().find_map(|line| {
        // … root place options … - type source options
        let (front, back) = line.split_once(" - ")?;
        let (mut front, mut back) = (front.split(' ').skip(3), back.split(' '));
        let (from, place) = (front.next()?, front.next()?);
        let (kind, options) = (back.next()?, back.nth(1)?);
        let fits = if unified {
            kind == "cgroup2"
        } else {
            kind == "cgroup" && options.split(',').any(|name| name == "memory")
        };
        fits.then_some((place, from))
    })
}

/// What a group leaves: its limit without what is used and is not page cache.
fn left_in(group: &Path, names: &Names) -> Option<u64> {
    let number = |name: &str| read(&group.join(name))?.trim().parse::<u64>().ok();
    let limit = number(names.limit)?;
    let stat = read(&group.join("memory.stat")).unwrap_or_default();
    let entry = |name: &str| {
        let value = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse::<u64>().ok()).unwrap_or(0)
    };
    let cache: u64 = names.cache.iter().map(|name| entry(name)).sum();
    Some(limit.saturating_sub(number(names.usage).unwrap_or(0).saturating_sub(cache)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable:    4194304 kB\n");
    const UNIFIED: (&str, &str) =
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");

    #[test]
    fn without_limits_it_is_what_the_machine_has() {
        let files = root(&[MEMINFO]);
        assert_eq!(available_under(files.path()), Some(4096 * MIB));
        assert_eq!(available_under(root(&[]).path()), None);
    }

    #[test]
    fn limits_of_the_process_count_without_what_it_holds() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         524288000            unlimited            bytes     \n";
        let files =
            root(&[MEMINFO, ("proc/self/limits", limits), ("proc/self/status", "VmSize:\t 102400 kB\n")]);
        assert_eq!(available_under(files.path()), Some(400 * MIB));
        let data = limits.replace(
            "unlimited            unlimited            bytes     \nMax a",
            "10485760 unlimited bytes\nMax a",
        );
        let files =
            root(&[MEMINFO, ("proc/self/limits", &data), ("proc/self/status", "VmData:\t 2048 kB\n")]);
        assert_eq!(available_under(files.path()), Some(8 * MIB));
    }

    #[test]
    fn the_narrowest_of_nested_groups_counts_and_page_cache_is_no_use() {
        let files = root(&[
            MEMINFO,
            UNIFIED,
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/memory.max", "1048576000\n"),
            ("sys/fs/cgroup/outer/memory.current", "1038090240\n"),
            ("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 838860800\nactive_file 104857600\n"),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
        ]);
        // 1000 MiB, of which 990 are in use, 900 of them by the page cache.
        assert_eq!(available_under(files.path()), Some(910 * MIB));
        std::fs::write(files.path().join("sys/fs/cgroup/outer/inner/memory.max"), "104857600\n").unwrap();
        assert_eq!(available_under(files.path()), Some(100 * MIB));
    }

    #[test]
    fn groups_of_version_1_count_also_from_inside_of_a_container() {
        let mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let files = root(&[
            MEMINFO,
            ("proc/self/mountinfo", mounts),
            ("proc/self/cgroup", "4:cpu,memory:/docker/abc/job\n1:cpuset:/\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "209715200\n"),
            ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "157286400\n"),
            ("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 52428800\n"),
        ]);
        assert_eq!(available_under(files.path()), Some(100 * MIB));
    }
}
