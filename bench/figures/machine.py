"""Where and when something is measured, and files that appear whole."""
import datetime
import json
import os
import platform


def processor():
    """What /proc says the processor is."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def head(mode, load_before, **more):
    """The first line of a file of measured cases."""
    return {"figure": "head", "mode": mode,
            "date": datetime.date.today().isoformat(),
            "cpu": processor(), "cores": os.cpu_count(),
            "kernel": platform.release().split("-")[0],
            "load": [round(load_before, 1), round(os.getloadavg()[0], 1)],
            **more}


def where(head_line):
    """It as a sentence."""
    load = head_line["load"]
    return (f"Machine: {head_line['cpu']}, {head_line['cores']} cores, Linux "
            f"{head_line['kernel']}, no GPU: software device. Date: "
            f"{head_line['date']}. Load average of the machine before and "
            f"after: {load[0]} and {load[1]}.")


def write_lines(path, rows):
    """JSON lines; the file is there with all of them, or as it was."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
    os.replace(path + ".tmp", path)
