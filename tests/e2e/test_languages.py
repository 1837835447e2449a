"""A third language is a model folder and a pack; Chinese and English stay as they are beside it."""
import json
import subprocess

import stack

from conftest import full_config

INTENTS = {
    "livraison": ("Votre colis arrive sous trois jours.",
                  ["où est mon colis", "quand arrive ma commande", "mon colis n'est pas arrivé", "suivre ma livraison s'il vous plaît"]),
    "remboursement": ("Vous êtes remboursé sous sept jours.",
                      ["je veux être remboursé", "comment obtenir un remboursement", "rendez-moi mon argent", "remboursez cet achat"]),
    "horaires": ("Nous sommes ouverts de 9 h à 18 h.",
                 ["à quelle heure ouvrez-vous", "êtes-vous ouverts le dimanche", "quels sont vos horaires", "le magasin ferme quand"]),
}
KNOWN = "je voudrais être remboursé"


def french_pack(folder):
    path = folder / "boutique.jsonl"
    rows = [{"text": text, "label": label, "answer": answer, "lang": "other"}
            for label, (answer, texts) in INTENTS.items() for text in texts]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def hengshi(*arguments):
    return subprocess.run([stack.BUILD / "hengshi", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def models_with_other(folder):
    models = folder / "models"
    models.mkdir(exist_ok=True)
    (models / "other").symlink_to(stack.MODELS / "all-minilm-l6-v2")
    return models


def test_a_third_language_by_a_folder(start, fake, artifacts, tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    told = hengshi("train", french_pack(tmp_path), "--models", models, "--out", tmp_path)
    assert told.returncode == 2 and f"{models}/other" in told.stderr, told.stderr
    told = hengshi("train", french_pack(tmp_path), "--models", models_with_other(tmp_path), "--out", tmp_path)
    assert told.returncode == 0, told.stderr
    assert f'other = "{tmp_path}/boutique/other"' in told.stderr
    config = full_config(fake, artifacts, tmp_path)
    config["models"]["other"] = models / "other"
    config["light"]["other"] = tmp_path / "boutique" / "other"
    config["route"][0]["light_threshold"] = 0.3
    gateway = start(config)
    headers, body = gateway.ask(KNOWN)
    assert headers["x-hengshi-path"] == "light" and headers["x-hengshi-model"].startswith("light/boutique@")
    assert body["choices"][0]["message"]["content"] == INTENTS["remboursement"][0]
    for question in ("设备连不上无线网怎么办", "How do I reset my router to factory settings?"):
        assert gateway.ask(question)[0]["x-hengshi-model"].startswith("light/demo@"), question
    told = hengshi("models", "--config", gateway.config_path)
    assert [line.split()[1] for line in told.stdout.splitlines() if line.startswith("light")] == ["zh", "en", "other"]


def test_what_looks_english_goes_to_the_language_that_has_a_model(start, fake, artifacts, tmp_path):
    models = models_with_other(tmp_path)
    assert hengshi("train", french_pack(tmp_path), "--models", models, "--out", tmp_path).returncode == 0
    config = full_config(fake, artifacts, tmp_path)
    config["models"] = {"other": models / "other"}
    config["light"] = {"other": tmp_path / "boutique" / "other"}
    config["route"][0]["light_threshold"] = 0.3
    headers, body = start(config).ask("remboursez cet achat")  # no accent
    assert headers["x-hengshi-path"] == "light"
    assert body["choices"][0]["message"]["content"] == INTENTS["remboursement"][0]
