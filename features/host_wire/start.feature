Feature: A host starts an extension
  The manifest decides which version is spoken. Nothing is sent before the answer to initialize, and an answer that breaks a rule ends the start.

  @0.1 @0.2 @0.4 @EXT04-FRAME-011 @EXT04-INIT-008 @EXT04-INIT-009 @EXT04-INIT-012 @EXT04-INIT-013 @EXT04-ENV-014 @EXT04-ENV-015 @EXT04-FRAME-012 @EXT04-ORDER-011 @EXT01-INIT-003 @EXT01-CALL-001 @EXT04-ENVIRON-001 @EXT04-ENVIRON-002 @EXT04-ENVIRON-003 @EXT04-ENVIRON-004 @EXT04-ENVIRON-006
  @0.3 @EXT03-FRAME-009 @EXT03-CANON-013 @EXT03-INIT-029 @EXT03-INIT-037 @EXT03-INIT-031 @EXT03-INIT-038 @EXT03-ENV-022 @EXT03-ENV-023 @EXT03-FRAME-016 @EXT03-ORDER-015 @EXT03-METHOD-008
  Scenario: A sound extension is started and its tool is called
    Given a sound extension
    When the host calls the tool "echo"
    Then the host says what the tool said
    And the extension was started once, with its environment
    And nothing of the extension is left

  @0.1 @0.2 @0.4 @EXT04-NEG-011
  Scenario: Another version than the manifest's
    Given an extension that answers with a version of its own choice
    When the host calls the tool "echo"
    Then the host gives the extension up

  @0.2 @0.4
  Scenario Outline: A selection that does not fit the offer
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up

    @EXT04-NEG-012
    Examples:
      | fault                                      |
      | leaves its selection out                   |
      | writes the version of its selection as a number |

    @EXT04-NEG-013
    Examples:
      | fault                                |
      | selects one of two required features |

    @EXT04-NEG-014
    Examples:
      | fault                                 |
      | selects a feature that does not exist |

    @EXT04-NEG-015
    Examples:
      | fault                                                          |
      | joins required and offered features without looking for doubles |

    @EXT04-NEG-016
    Examples:
      | fault                    |
      | leaves the limits out    |
      | takes zero for no bound  |
      | writes null for no bound |

    @EXT04-NEG-018
    Examples:
      | fault                                       |
      | subscribes to events without their feature |

  @0.2 @0.4 @EXT04-NEG-021
  Scenario: A feature without the one that it needs
    Given an extension that selects decorated progress without progress
    When the host calls the tool "echo"
    And the host offers the feature "progress_decoration"
    Then the host gives the extension up

  @0.1 @EXT01-NEG-001
  Scenario: A selection that nobody asked for
    Given an extension that answers with a selection nobody asked for
    When the host calls the tool "echo"
    Then the host gives the extension up

  @0.1 @0.2 @0.4 @EXT04-NEG-019
  Scenario Outline: A catalog that does not fit the manifest
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up

    Examples:
      | fault                                        |
      | lacks a tool that its manifest declares      |
      | names a tool twice                           |
      | has a command that its manifest does not declare |

  @0.3 @EXT03-INIT-033
  Scenario Outline: An answer that breaks its model or the contract
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up

    Examples:
      | fault                                              |
      | answers with another API version                   |
      | lists commands, which this wire does not have      |
      | answers its tools as an object                     |
      | adds a member to its selection                     |
      | selects another schema                             |
      | selects too few capabilities                       |
      | selects a capability nobody offered                |
      | selects too few methods                            |
      | selects a method nobody offered                    |
      | selects a capability twice                         |
      | selects a limit that is a string                   |

  @0.3 @EXT03-INIT-036
  Scenario Outline: A catalog with a name that is none
    Given an extension that <fault>
    When the host calls the tool "echo"
    Then the host gives the extension up

    Examples:
      | fault                          |
      | has a tool with an empty name  |
      | has two tools of one name      |
